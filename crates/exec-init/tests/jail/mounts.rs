//! The mounts of a cell: what they show, and which requests are refused.

use std::os::unix::fs::{MetadataExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};

use exec_wire::{Access, Fatal, FileId, Missing, Mount};

use crate::cell::{Cell, program};
use crate::spec::{Role, Stage, bind};

fn refusal(stage: &Stage, extra: Mount) -> String {
    let mut mounts = stage.mounts();
    mounts.push(extra);
    match Cell::start(stage.role, stage.walled(mounts)) {
        Ok(_) => panic!("the cell was made"),
        Err(Fatal::Other(why)) => why,
        Err(other) => panic!("{other:?}"),
    }
}

fn answer(stage: &Stage, extra: Vec<Mount>, script: &str) -> String {
    let mut mounts = stage.mounts();
    mounts.extend(extra);
    Cell::start(stage.role, stage.walled(mounts)).unwrap().sh(script).output
}

/// A4
#[test]
fn a_source_that_was_swapped_is_refused() {
    for role in Role::all() {
        let stage = Stage::new(role);
        std::fs::create_dir(stage.path("checked")).unwrap();
        let checked = bind(&stage.path("checked"), "/checked", Access::Write);
        std::fs::rename(stage.path("checked"), stage.path("aside")).unwrap();
        std::fs::create_dir(stage.path("checked")).unwrap();
        assert!(refusal(&stage, checked.clone()).contains("not the file that was checked"));
        std::fs::remove_dir(stage.path("checked")).unwrap();
        symlink("/", stage.path("checked")).unwrap();
        assert!(refusal(&stage, checked.clone()).contains("symbolic link"));
        // Skipping a missing source does not skip one that was swapped.
        let Mount::Bind { source, target, access, expect, .. } = checked else { panic!("a bind") };
        let skipped = Mount::Bind { source, target, access, expect, missing: Missing::Skip };
        assert!(refusal(&stage, skipped).contains("symbolic link"));
    }
}

/// A4: a reused inode number does not make another file the same.
#[test]
fn a_source_is_known_by_its_birth_too() {
    for role in Role::all() {
        let stage = Stage::new(role);
        let Mount::Bind { source, target, access, expect, missing } =
            bind(&stage.path("work"), "/checked", Access::Write)
        else {
            panic!("a bind")
        };
        let born = |change: fn(u64) -> u64| Mount::Bind {
            expect: expect.map(|id| FileId { born: change(id.born), ..id }),
            source: source.clone(),
            target: target.clone(),
            access,
            missing,
        };
        assert!(refusal(&stage, born(|born| born + 1)).contains("not the file that was checked"));
        assert_eq!(answer(&stage, vec![born(|born| born)], "echo made"), "made\n");
        assert_eq!(answer(&stage, vec![born(|_| 0)], "echo made"), "made\n", "where it is not known");
    }
}

#[test]
fn a_missing_source_fails_or_is_skipped_as_asked() {
    for role in Role::all() {
        let stage = Stage::new(role);
        let missing = |missing| Mount::Bind {
            source: b"/no/such/place".to_vec(),
            target: b"/here".to_vec(),
            access: Access::Read,
            expect: None,
            missing,
        };
        assert!(refusal(&stage, missing(Missing::Fail)).contains("/no/such/place: No such file"));
        assert_eq!(
            answer(&stage, vec![missing(Missing::Skip)], "ls -d /here 2>/dev/null; echo done"),
            "done\n"
        );
    }
}

#[test]
fn a_place_missing_in_a_read_only_bind_is_named() {
    for role in Role::all() {
        let stage = Stage::new(role);
        let why = refusal(&stage, bind(&stage.path("work"), "/ro/sub/place", Access::Write));
        assert!(why.contains("/ro/sub") && why.contains("mounted read-only"), "{why}");
    }
}

/// A3: a link that a command left in its workspace leads a later mount only to places inside the cell.
#[test]
fn a_link_in_the_workspace_can_not_lead_a_mount_out() {
    for role in Role::all() {
        let stage = Stage::new(role);
        let outside = stage.path("outside");
        std::fs::create_dir(&outside).unwrap();
        symlink(&outside, stage.path("work/link")).unwrap();
        symlink("../../../../../..", stage.path("work/up")).unwrap();
        let through = bind(&stage.path("ro"), "/workspace/up/usr/share", Access::Read);
        assert_eq!(answer(&stage, vec![through], "cat /usr/share/s"), "readable\n");
        let mut dangling = bind(&stage.path("ro"), "/workspace/link/made", Access::Read);
        let why = refusal(&stage, dangling.clone());
        assert!(why.contains("/workspace/link"), "{why}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        if let Mount::Bind { target, .. } = &mut dangling {
            *target = b"/workspace/../../etc".to_vec();
        }
        assert!(stage.path("work").exists());
    }
}

#[test]
fn the_root_is_not_a_target() {
    let stage = Stage::new(Role::User);
    assert!(
        refusal(&stage, bind(&stage.path("ro"), "//", Access::Read)).contains("the root is not a target")
    );
}

#[test]
fn nested_mounts_lie_in_the_order_given() {
    for role in Role::all() {
        let stage = Stage::new(role);
        for dir in ["work/.git", "work/.git/hooks"] {
            std::fs::create_dir(stage.path(dir)).unwrap();
            stage.own(dir);
        }
        std::fs::write(stage.path("work/.git/config"), "[core]\n").unwrap();
        let extra = vec![
            bind(&stage.path("work/.git/hooks"), "/workspace/.git/hooks", Access::Read),
            bind(&stage.path("work/.git/config"), "/workspace/.git/config", Access::Read),
        ];
        let script = "echo x > /workspace/.git/config; touch /workspace/.git/hooks/pre-commit; \
                      mv /workspace/.git/config /workspace/c; rm -r /workspace/.git/hooks; cat /workspace/.git/config";
        let output = answer(&stage, extra, script);
        assert!(output.ends_with("[core]\n"), "{output}");
        assert_eq!(output.matches("Read-only file system").count(), 2, "{output}");
        assert_eq!(output.matches("Device or resource busy").count(), 2, "{output}");
    }
}

#[test]
fn files_made_on_the_host_belong_to_the_commands_user() {
    for role in Role::all() {
        let stage = Stage::new(role);
        let extra = vec![bind(&stage.path("ro"), "/workspace/new/place", Access::Read)];
        assert_eq!(answer(&stage, extra, "cat /workspace/new/place/s; echo x > /workspace/f"), "readable\n");
        for made in ["work/new", "work/new/place", "work/f"] {
            assert_eq!(std::fs::metadata(stage.path(made)).unwrap().uid(), role.inside(), "{role:?}: {made}");
        }
    }
}

#[test]
fn the_cell_has_what_programs_expect() {
    let script = "cat /.cell; echo x > /dev/null; head -c4 /dev/urandom | wc -c; test -c /dev/tty && echo tty; \
                  echo out > /dev/stdout; echo 1 > /dev/full || echo full; ls /dev/pts; test -e /dev/ptmx && echo ptmx; \
                  stat -c %a /tmp /home/agent /dev/shm; cat /proc/self/comm; test -d /proc/1 && hostname";
    let expected = "made for this\n4\ntty\nout\nfull\nptmx\nptmx\n1777\n700\n1777\ncat\ncell\n";
    for role in Role::all() {
        let outcome =
            Cell::start(role, Stage::new(role).namespaces()).unwrap().sh(&format!("({script}) 2>/dev/null"));
        assert_eq!(outcome.output, expected, "{role:?}");
    }
}

/// A30: the size of a tmpfs holds.
#[test]
fn a_tmpfs_has_the_requested_size() {
    for role in Role::all() {
        for dir in ["/tmp", "/dev/shm", "/home/agent"] {
            let script = format!("head -c 2000000 /dev/zero > {dir}/big");
            let outcome = Cell::start(role, Stage::new(role).namespaces()).unwrap().sh(&script);
            assert!(!outcome.ok() && outcome.output.contains("No space left"), "{role:?}: {outcome:?}");
        }
    }
}

#[test]
fn loopback_is_up_and_alone() {
    let script =
        "cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '; cat /proc/net/fib_trie | grep -c 127.0.0.1";
    for role in Role::all() {
        let outcome = Cell::start(role, Stage::new(role).namespaces()).unwrap().sh(script);
        assert!(
            outcome.output.starts_with("lo\n") && !outcome.output.ends_with("\n0\n"),
            "{role:?}: {outcome:?}"
        );
        assert_eq!(outcome.output.lines().count(), 2, "{outcome:?}");
    }
}

/// Hosts that forbid namespaces are distinguished from wrong requests, so that only they get the weaker
/// walls.
#[test]
fn forbidden_namespaces_are_distinguished() {
    let hosts = [
        ("no more user namespaces", "echo 0 > /proc/sys/user/max_user_namespaces"),
        ("a /proc covered in part, as in a container", "mount -t tmpfs none /proc/bus"),
    ];
    for (host, forbid) in hosts {
        for (script, forbidden) in [(forbid, true), ("true", false)] {
            let stage = Stage::new(Role::User);
            let mut command = std::process::Command::new("/usr/bin/unshare");
            let script = format!("{script} && exec {} local", program().display());
            command.args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c", &script]);
            let mut spec = stage.namespaces();
            spec.identity = exec_wire::Identity { uid: 0, gid: 0, groups: Vec::new() };
            match Cell::start_by(command, Role::User, spec) {
                Ok(_) => assert!(!forbidden, "{host}"),
                Err(why) => {
                    let unavailable = matches!(why, Fatal::NamespacesUnavailable(_));
                    assert!(forbidden && unavailable, "{host}: {why}");
                }
            }
        }
    }
}

/// A49: secrets that other programs replace or remove meanwhile do not keep cells from being made, and stay hidden.
#[test]
fn masked_files_may_be_replaced_meanwhile() {
    for role in Role::all() {
        let stage = Stage::new(role);
        std::fs::create_dir(stage.path("etc")).unwrap();
        let names: Vec<String> = (0..40).map(|number| format!("key{number}")).collect();
        let path = |name: &str| stage.path("etc").join(name);
        let write_all = || {
            for name in &names {
                std::fs::write(path("new"), "s3cret").unwrap();
                std::fs::rename(path("new"), path(name)).unwrap();
            }
        };
        write_all();
        let mut mounts = stage.mounts();
        mounts.push(bind(&stage.path("etc"), "/secrets", Access::Read));
        mounts
            .extend(names.iter().map(|name| Mount::Mask { target: format!("/secrets/{name}").into_bytes() }));
        let is_over = AtomicBool::new(false);
        let failed: Vec<Fatal> = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    write_all();
                    std::fs::remove_file(path(&names[0])).unwrap();
                }
            });
            let cells = (0..30).map(|_| Cell::start(role, stage.walled(mounts.clone())));
            let failed = cells.filter_map(Result::err).collect();
            is_over.store(true, Ordering::Relaxed);
            failed
        });
        assert!(failed.is_empty(), "{failed:?}");
        write_all();
        let shown = Cell::start(role, stage.walled(mounts)).unwrap();
        let shown = shown.sh("cat /secrets/key* 2>/dev/null; ls /secrets/key* | wc -l").output;
        assert_eq!(shown.trim(), names.len().to_string(), "all are there, and none can be read");
    }
}
