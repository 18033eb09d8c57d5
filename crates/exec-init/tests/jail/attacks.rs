//! A command's attempts against its walls.

use std::process::Command;

use exec_wire::{MASKED_PROC, MASKED_PROC_FOR_ROOT};

use crate::cell::{Cell, Outcome};
use crate::spec::{Role, Stage};

fn inside(stage: &Stage, script: &str) -> Outcome {
    Cell::start(stage.role, stage.namespaces()).unwrap().sh(script)
}

fn outside(script: &str) -> bool {
    Command::new("/bin/sh").args(["-c", script]).status().unwrap().success()
}

/// Runs a script in one cell of each kind; its output must contain the words, and its status must be `ok`.
#[track_caller]
fn everywhere(script: &str, ok: bool, words: &[&str]) {
    for role in Role::all() {
        let stage = Stage::new(role);
        let outcome = inside(&stage, script);
        assert_eq!(outcome.ok(), ok, "{role:?}: {script}: {outcome:?}");
        for word in words {
            assert!(outcome.output.contains(word), "{role:?}: {script}: {outcome:?}");
        }
    }
}

/// A1
#[test]
fn a_file_outside_the_mounts_is_hidden() {
    for role in Role::all() {
        let stage = Stage::new(role);
        let canary = stage.path("host-canary");
        let script = format!("cat {}", canary.display());
        assert!(outside(&script));
        let outcome = inside(&stage, &script);
        assert!(!outcome.ok() && outcome.output.contains("No such file"), "{role:?}: {outcome:?}");
    }
}

/// A1: nothing of the host's root is reachable, by name or by descriptor.
#[test]
fn the_root_has_only_the_requested_entries() {
    let script = "ls -A / | tr '\\n' ' '; awk '{print $5}' /proc/self/mountinfo | sort | tr '\\n' ' '";
    for role in Role::all() {
        let outcome = inside(&Stage::new(role), script);
        for gone in ["root ", "boot", "var", "host-canary", " /sys"] {
            assert!(!outcome.output.contains(gone), "{role:?}: {gone}: {outcome:?}");
        }
        assert!(outcome.output.contains("/workspace"), "{outcome:?}");
    }
}

/// A2
#[test]
fn the_root_file_system_is_read_only() {
    for path in ["/x", "/usr/x", "/etc/x", "/ro/x", "/dev/x", "/proc/x", "/home/user"] {
        let script = format!("touch {path}");
        for role in Role::all() {
            let outcome = inside(&Stage::new(role), &script);
            let refused = ["Read-only file system", "Permission denied", "No such file"];
            assert!(!outcome.ok() && refused.iter().any(|word| outcome.output.contains(word)), "{outcome:?}");
            assert!(
                path.starts_with("/proc") || outcome.output.contains("Read-only"),
                "{role:?}: {outcome:?}"
            );
        }
    }
    everywhere("touch /workspace/x /tmp/x /home/agent/x /dev/shm/x", true, &[]);
}

/// A2: nothing in a read-only bind can be changed, although the command owns the file.
#[test]
fn a_read_only_bind_holds_against_its_owner() {
    for script in
        ["echo x > /ro/s", "chmod 777 /ro/s", "rm /ro/s", "mv /ro/s /ro/t", "touch -d 2001-01-01 /ro/s"]
    {
        everywhere(script, false, &["Read-only file system"]);
    }
    everywhere("cat /ro/s", true, &["readable"]);
}

/// A5
#[test]
fn a_read_only_file_can_not_be_linked_into_a_writable_place() {
    everywhere("ln /ro/s /workspace/h", false, &["Invalid cross-device link"]);
    everywhere("echo x > /workspace/a && ln /workspace/a /workspace/h", true, &[]);
}

/// A6
#[test]
fn no_device_nodes() {
    everywhere("mknod /workspace/d b 8 0", false, &["Operation not permitted"]);
    everywhere("mknod /tmp/d c 1 3", false, &["Operation not permitted"]);
    everywhere("mknod /workspace/p p", true, &[]);
}

/// A7
#[test]
fn set_user_id_does_nothing() {
    for role in Role::all() {
        let stage = Stage::new(role);
        if rustix::process::geteuid().is_root() {
            // A set-user-id program of root, which the host put into the workspace.
            let copy = stage.path("work/id");
            assert!(outside(&format!(
                "cp /usr/bin/id {0} && chown 0:0 {0} && chmod 4755 {0}",
                copy.display()
            )));
        } else {
            assert!(outside(&format!("cp /usr/bin/id {}", stage.path("work/id").display())));
        }
        let outcome = inside(&stage, "/workspace/id -u");
        assert_eq!(outcome.output.trim(), role.inside().to_string(), "{role:?}");
        let outcome = inside(&stage, "grep -E '^Cap(Prm|Eff|Bnd|Amb)' /proc/self/status | cut -f2 | sort -u");
        assert_eq!(outcome.output.trim(), "0000000000000000", "{role:?}");
    }
}

/// A8
#[test]
fn nothing_can_be_remounted() {
    for script in
        ["mount -o remount,rw /", "mount -o remount,rw,bind /usr", "umount /ro", "mount -t tmpfs t /tmp"]
    {
        for role in Role::all() {
            let outcome = inside(&Stage::new(role), script);
            let refused = ["permission denied", "Permission denied", "must be superuser", "not permitted"];
            assert!(!outcome.ok() && refused.iter().any(|word| outcome.output.contains(word)), "{outcome:?}");
            assert!(matches!(outcome.status, exec_wire::Status::Code(code) if code != 127), "{outcome:?}");
        }
    }
}

/// A9
#[test]
fn the_kernels_settings_can_not_be_changed() {
    for file in ["sys/kernel/core_pattern", "sys/vm/drop_caches", "sysrq-trigger", "sys/kernel/hostname"] {
        if !std::path::Path::new("/proc").join(file).exists() {
            continue;
        }
        let script = format!("echo x > /proc/{file}");
        for role in Role::all() {
            let outcome = inside(&Stage::new(role), &script);
            let refused = ["Read-only file system", "Permission denied"];
            assert!(!outcome.ok() && refused.iter().any(|word| outcome.output.contains(word)), "{outcome:?}");
            assert!(role != Role::RootForRoot || outcome.output.contains("Read-only"), "{outcome:?}");
        }
    }
    everywhere("find / -name release_agent 2>/dev/null | wc -l", true, &["0"]);
    let script = "find /proc -path '/proc/[0-9]*' -prune -o -type f -writable -print 2>/dev/null; echo .";
    for role in Role::all() {
        // Except the masks, which are the null device, and the pressure files, which every user may monitor.
        let output = inside(&Stage::new(role), script).output;
        let masked = MASKED_PROC.iter().chain(&MASKED_PROC_FOR_ROOT);
        let known = masked.chain(&["pressure/"]).map(|name| format!("/proc/{name}"));
        let known = |line: &&str| known.clone().any(|name| line.starts_with(&name));
        let found: Vec<_> = output.lines().filter(|line| !known(line)).collect();
        assert_eq!(found, ["."], "{role:?}");
    }
}

/// A10
#[test]
fn masked_files_are_empty_or_denied() {
    for file in MASKED_PROC.iter().chain(&MASKED_PROC_FOR_ROOT) {
        if !std::path::Path::new("/proc").join(file).exists() {
            continue;
        }
        everywhere(&format!("timeout 2 head -c1 /proc/{file} | wc -c"), true, &["0\n"]);
    }
    everywhere("cat /proc/meminfo > /dev/null && cat /proc/cpuinfo > /dev/null", true, &[]);
    everywhere("cat /etc/shadow", false, &["Permission denied"]);
    everywhere("ls -A /etc/ssl/private", true, &[]);
}

/// A11
#[test]
fn only_the_standard_descriptors_are_inherited() {
    let script =
        "i=0; while [ $i -lt 256 ]; do test -L /proc/$$/fd/$i && printf '%s ' $i; i=$((i+1)); done; echo .";
    for role in Role::all() {
        assert_eq!(inside(&Stage::new(role), script).output, "0 1 2 .\n", "{role:?}");
    }
}

/// A12
#[test]
fn no_sockets_are_visible() {
    everywhere("find / -type s 2>/dev/null | wc -l", true, &["0\n"]);
}

/// A16
#[test]
fn a_process_outside_can_not_be_signalled() {
    let mut victim = Command::new("sleep").arg("1000").spawn().unwrap();
    let script = format!("kill -9 {}", victim.id());
    everywhere(&script, false, &["No such process"]);
    assert!(victim.try_wait().unwrap().is_none());
    assert!(outside(&script));
    victim.wait().unwrap();
}

/// A17
#[test]
fn the_cells_init_can_not_be_killed_read_or_traced() {
    everywhere("kill -9 1; kill -STOP 1; kill -TERM 1; sleep 0.1; echo alive", true, &["alive"]);
    for file in ["mem", "environ", "fd/0", "root/x", "cwd/x", "maps"] {
        everywhere(&format!("head -c1 /proc/1/{file}"), false, &["Permission denied"]);
    }
    everywhere("readlink /proc/1/fd/0 /proc/1/exe /proc/1/root", false, &[]);
    everywhere("readlink /proc/$$/fd/0 /proc/$$/exe /proc/$$/root", true, &[]);
}

/// A27
#[test]
fn identity_is_as_requested() {
    let script = "id -u; id -g; grep -E '^(CapBnd|CapEff|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status";
    for role in Role::all() {
        let stage = Stage::new(role);
        let cell = Cell::start(role, stage.namespaces()).unwrap();
        let facts = cell.facts.clone();
        assert!(facts.pid_namespace && facts.no_new_privs && facts.seccomp, "{facts:?}");
        assert_eq!((facts.uid, facts.capabilities), (role.inside(), 0), "{facts:?}");
        let outcome = cell.sh(script);
        let (uid, gid) = (role.inside(), role.identity().gid);
        let none = "0000000000000000";
        let expected = format!(
            "{uid}\n{gid}\nCapEff:\t{none}\nCapBnd:\t{none}\nCapAmb:\t{none}\nNoNewPrivs:\t1\nSeccomp:\t2\n"
        );
        assert_eq!(outcome.output, expected, "{role:?}");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    assert!(status.contains("NoNewPrivs:\t0"), "the control must be free: {status}");
}

/// A29
#[test]
fn no_namespace_is_shared() {
    let script = "for n in user pid mnt net ipc uts cgroup; do readlink /proc/self/ns/$n; done";
    let control = Command::new("/bin/sh").args(["-c", script]).output().unwrap().stdout;
    let control = String::from_utf8(control).unwrap();
    for role in Role::all() {
        let outcome = inside(&Stage::new(role), script);
        assert_eq!(outcome.output.lines().count(), 7, "{outcome:?}");
        for (own, hosts) in outcome.output.lines().zip(control.lines()) {
            assert_ne!(own, hosts, "{role:?}");
        }
    }
    everywhere("cat /proc/sys/kernel/hostname", true, &["cell\n"]);
}
