//! R103: thousands of runs, sequential and concurrent, leave nothing behind; output of any size passes in
//! bounded memory. `cargo xtask soak` runs the full numbers.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exec_control::{Audit, StateDir, Watch};
use exec_core::{ByteSize, Capture, Cmd, ExecOpts, Executor};
use exec_local::{LocalConfig, LocalExec, WallsChoice};
use exec_wire::procfs;

fn soak() -> bool {
    std::env::var_os("EXEC_TEST_SOAK").is_some()
}

/// The holdings that grew, and by how much. Fewer are not a leak: idle threads end after a while, and their
/// number depends on how busy the machine is.
fn more_than(before: &BTreeMap<&'static str, usize>) -> Vec<(&'static str, usize)> {
    holdings().into_iter().filter(|(what, count)| *count > before[what]).collect()
}

/// The holdings that must not grow, by name.
fn holdings() -> BTreeMap<&'static str, usize> {
    let entries = |path: &str| fs::read_dir(path).map_or(0, Iterator::count);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let threads =
        status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap().trim().parse().unwrap();
    BTreeMap::from([
        ("descriptors", entries("/proc/self/fd")),
        ("threads", threads),
        ("children", children()),
        ("mounts", mounts()),
        ("control groups", groups()),
        ("scratch directories", scratch_directories()),
    ])
}

/// Mounts of the host, except those of container engines, which come and go with other containers.
fn mounts() -> usize {
    let engines = ["docker", "containerd", "containers", "netns"];
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.lines().filter(|line| !engines.iter().any(|engine| line.contains(engine))).count()
}

fn children() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.map(|list| list.split_whitespace().count()).sum()
}

/// Control groups named after this process.
fn groups() -> usize {
    let prefix = own_prefix();
    let table = fs::read("/proc/self/mountinfo").unwrap();
    let hierarchies = procfs::mounts(&table).filter(|mount| mount.file_system.starts_with(b"cgroup"));
    hierarchies.map(|mount| count_below(OsStr::from_bytes(&mount.point).as_ref(), &prefix)).sum()
}

fn count_below(dir: &std::path::Path, prefix: &str) -> usize {
    let directories = fs::read_dir(dir).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    directories
        .map(|entry| {
            let own = entry.file_name().to_string_lossy().starts_with(prefix);
            usize::from(own) + count_below(&entry.path(), prefix)
        })
        .sum()
}

fn scratch_directories() -> usize {
    let prefix = own_prefix();
    let entries = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).count()
}

fn own_prefix() -> String {
    format!("agentctl-{}-", std::process::id())
}

/// Keepers take a short time to clean up after their cells.
fn eventually<T: PartialEq + std::fmt::Debug>(look: impl Fn() -> T, expected: &T) {
    let end = Instant::now() + Duration::from_secs(20);
    while look() != *expected && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(look(), *expected);
}

async fn executor(walls: WallsChoice, warm_cells: usize) -> Arc<LocalExec> {
    Arc::new(LocalExec::new(LocalConfig { walls, warm_cells, ..LocalConfig::default() }).await.unwrap())
}

async fn run_many(executor: &Arc<LocalExec>, opts: &ExecOpts, sequential: usize, parallel: usize) {
    for number in 0..sequential {
        let result =
            executor.run(&Cmd::shell(format!("(setsid sleep 1000 &) ; echo {number}")), opts).await.unwrap();
        assert_eq!(result.stdout.text(), format!("{number}\n"));
    }
    let runs: Vec<_> = (0..parallel)
        .map(|number| {
            let (executor, opts) = (Arc::clone(executor), opts.clone());
            tokio::spawn(async move {
                let result = executor.run(&Cmd::shell(format!("echo {number}")), &opts).await.unwrap();
                assert_eq!(result.stdout.text(), format!("{number}\n"));
            })
        })
        .collect();
    for run in runs {
        run.await.unwrap();
    }
}

fn leaves_nothing(walls: WallsChoice, warm_cells: usize) {
    let workspace = tempfile::tempdir().unwrap();
    let opts = ExecOpts::in_workspace(workspace.path());
    let (sequential, parallel) = if soak() { (10_000, 200) } else { (60, 40) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let executor = runtime.block_on(executor(walls, warm_cells));
    let after = |sequential, parallel| {
        runtime.block_on(run_many(&executor, &opts, sequential, parallel));
        runtime.block_on(executor.warm(&opts)).unwrap();
        // A cell is one child of this process, its keeper.
        eventually(children, &warm_cells);
        holdings()
    };
    // A run is over before its last descriptor is closed, so the baseline is what two consecutive runs agree
    // on. It includes what is made once and kept.
    let mut before = after(1, 0);
    for _ in 0..100 {
        let again = after(1, 0);
        if again == before {
            break;
        }
        before = again;
    }
    after(sequential, parallel);
    eventually(|| more_than(&before), &Vec::new());
    drop(executor);
    eventually(|| (children(), groups(), scratch_directories()), &(0, 0, 0));
}

/// R15, F1: a process that is about to end drops its runtime first, so no task notices the end of a cell.
/// Here the process lives on, as a slow one does for a moment.
fn a_runtime_that_ends_leaves_no_record(walls: WallsChoice) {
    let dir = tempfile::tempdir().unwrap();
    let watch = Watch::new(StateDir::at(dir.path().join("state")), Audit::Off);
    let config = LocalConfig { walls, warm_cells: 2, watch, ..LocalConfig::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let executor = runtime.block_on(LocalExec::new(config)).unwrap();
    let workspace = dir.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    runtime.block_on(executor.warm(&ExecOpts::in_workspace(&workspace))).unwrap();
    let records = || {
        let kinds = ["cells", "runs"].map(|kind| fs::read_dir(dir.path().join("state").join(kind)).unwrap());
        kinds.map(Iterator::count)
    };
    assert_eq!(records(), [2, 2], "the control: two cells, each with a record ahead of its run");
    runtime.shutdown_background();
    drop(executor);
    eventually(records, &[0, 0]);
}

fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// One test, because the counts are of the whole process.
#[test]
fn nothing_is_left_and_memory_is_bounded() {
    leaves_nothing(WallsChoice::Namespaces, 0);
    leaves_nothing(WallsChoice::Namespaces, 2);
    leaves_nothing(WallsChoice::Subreaper, 0);
    a_runtime_that_ends_leaves_no_record(WallsChoice::Namespaces);
    a_runtime_that_ends_leaves_no_record(WallsChoice::Subreaper);
    a_gibibyte_passes_in_bounded_memory();
}

fn a_gibibyte_passes_in_bounded_memory() {
    let cap = ByteSize::mib(1);
    let workspace = tempfile::tempdir().unwrap();
    let opts = ExecOpts::in_workspace(workspace.path()).with_capture(Capture { cap, spill: None });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let executor = runtime.block_on(executor(WallsChoice::Namespaces, 0));
    let before = peak_memory();
    let cmd = Cmd::new("head").args(["-c", "1G", "/dev/zero"]);
    let result = runtime.block_on(executor.run(&cmd, &opts)).unwrap();
    let grown = peak_memory() - before;
    assert_eq!(result.stdout.omitted(), (1 << 30) - cap.get());
    assert!(grown < cap.get() + ByteSize::mib(8).get(), "memory grew by {}", ByteSize::bytes(grown));
}
