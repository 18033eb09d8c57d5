//! However a cell ends, it leaves nothing behind.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use exec_wire::procfs::mounts;
use exec_wire::{JailSpec, LandlockPlan};

use crate::cell::Cell;
use crate::spec::{Role, Stage};

/// Leaves processes of every shape behind and prints `up`.
const FAMILY: &str = "sleep MARK & (setsid setsid sleep MARK &) ; (trap '' TERM HUP INT; sleep MARK) & \
                      sh -c 'setsid sleep MARK & wait' & sleep 0.2; echo up; wait";

/// A sleep time that no other test uses, to find this test's processes by.
fn mark() -> String {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("{}.{}", 100_000 + std::process::id(), 1000 + count)
}

fn alive(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.starts_with(b"sleep\0") && String::from_utf8_lossy(line).contains(mark)).count()
}

#[track_caller]
fn all_gone(mark: &str) {
    let end = Instant::now() + Duration::from_secs(5);
    while alive(mark) > 0 {
        assert!(Instant::now() < end, "{} alive", alive(mark));
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn groups_left(name: &str) -> Vec<String> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap();
    let hierarchies = mounts(&table).filter(|mount| mount.file_system.starts_with(b"cgroup"));
    let points = hierarchies.map(|mount| PathBuf::from(OsStr::from_bytes(&mount.point)));
    points.flat_map(|point| found_below(&point, name, 6)).collect()
}

fn found_below(dir: &Path, name: &str, depth: u32) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let dirs = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.flat_map(|entry| match entry.file_name() == name {
        true => vec![entry.path().display().to_string()],
        false if depth > 0 => found_below(&entry.path(), name, depth - 1),
        false => Vec::new(),
    })
    .collect()
}

/// Walls of both kinds, with limits so that there are groups to remove.
fn both(role: Role) -> Vec<(Stage, JailSpec)> {
    let limited = |mut spec: JailSpec| {
        spec.cgroup.memory = Some(256 << 20);
        spec.cgroup.pids = Some(64);
        spec
    };
    let (walled, open) = (Stage::new(role), Stage::new(role));
    let specs = [limited(walled.namespaces()), limited(open.subreaper())];
    [walled, open].into_iter().zip(specs).collect()
}

fn family(role: Role, spec: &JailSpec) -> (Cell, String) {
    let mark = mark();
    let mut cell = Cell::start(role, spec.clone()).unwrap();
    cell.begin(&["/bin/sh", "-c", &FAMILY.replace("MARK", &mark)]);
    cell.wait_for("up");
    let end = Instant::now() + Duration::from_secs(20);
    while alive(&mark) < 4 {
        assert!(Instant::now() < end, "the control: they are alive before");
        std::thread::sleep(Duration::from_millis(2));
    }
    (cell, mark)
}

#[test]
fn the_hosts_end_ends_everything() {
    for role in Role::all() {
        for (_stage, spec) in both(role) {
            let (cell, mark) = family(role, &spec);
            if role != Role::User {
                assert!(!groups_left(&spec.cgroup.name).is_empty(), "the control: there are groups before");
            }
            cell.hang_up();
            assert_eq!(alive(&mark), 0, "{role:?}: {:?}", spec.walls);
            assert_eq!(groups_left(&spec.cgroup.name), Vec::<String>::new(), "{role:?}");
        }
    }
}

#[test]
fn the_keepers_end_ends_everything() {
    for role in Role::all() {
        for (_stage, spec) in both(role) {
            let (mut cell, mark) = family(role, &spec);
            cell.keeper.kill().unwrap();
            cell.keeper.wait().unwrap();
            if spec.walls == (exec_wire::Walls::Subreaper { scratch: Vec::new() }) {
                // PID 1 survives its keeper, and the host, which sees the keeper die, hangs up.
                cell.hang_up();
            }
            all_gone(&mark);
            // Without a keeper, removing the groups is up to the host, which knows their name.
            for group in groups_left(&spec.cgroup.name) {
                remove(Path::new(&group));
            }
        }
    }
}

/// The kernel releases dead processes a little after their end; systemd, if there is one, may remove the
/// group first.
fn remove(group: &Path) {
    let end = Instant::now() + Duration::from_secs(5);
    while let Err(why) = std::fs::remove_dir(group) {
        if why.kind() == std::io::ErrorKind::NotFound {
            return;
        }
        assert!(Instant::now() < end, "{}: {why}", group.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A17: without a PID namespace a command of the same user may kill its supervisor, but gains nothing by it.
#[test]
fn a_command_that_kills_its_supervisor_ends_itself() {
    for role in Role::all() {
        let stage = Stage::new(role);
        let mark = mark();
        let mut cell = Cell::start(role, stage.subreaper()).unwrap();
        let script =
            format!("{}; kill -9 $PPID; sleep {mark}", FAMILY.replace("; wait", "").replace("MARK", &mark));
        cell.begin(&["/bin/sh", "-c", &script]);
        let code = cell.keeper.wait().unwrap().code();
        assert_eq!(alive(&mark), 0, "{role:?}");
        assert_eq!(code, Some(128 + 9), "{role:?}");
    }
}

/// A16: where the kernel supports it, Landlock keeps a command from signalling foreign processes.
#[test]
fn landlock_guards_the_supervisor_where_no_namespace_does() {
    for role in Role::all() {
        let stage = Stage::new(role);
        let mut spec = stage.subreaper();
        let read = vec![b"/".to_vec()];
        let write = vec![stage.path("work").into_os_string().into_encoded_bytes()];
        spec.landlock = Some(LandlockPlan { deny_tcp: true, read, write });
        let cell = Cell::start(role, spec).unwrap();
        if cell.facts.landlock_abi < 6 {
            println!("not claimed: Landlock {} has no signal scope", cell.facts.landlock_abi);
            continue;
        }
        let work = stage.path("work");
        let ro = stage.path("ro");
        let script = format!(
            "kill -9 $PPID; sleep 100 & kill $! && echo own; echo x > {0}/f && mv {0}/f {0}/g && mkdir {0}/d && \
             mv {0}/g {0}/d/g && : > {0}/d/g && echo written; echo x > {1}/f; cat {1}/s; echo x > /dev/null && echo null",
            work.display(),
            ro.display()
        );
        let outcome = cell.sh(&script);
        for word in ["Operation not permitted", "own", "written", "readable", "null"] {
            assert!(outcome.output.contains(word), "{role:?}: {word}: {outcome:?}");
        }
        assert!(!ro.join("f").exists(), "{outcome:?}");
    }
}
