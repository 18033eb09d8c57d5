//! Files of our own are out of a command's reach, wherever the environment places them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use rstest::rstest;
use rustix::process::geteuid;

use crate::support::{Place, program};

/// The run is refused before anything starts, and the message names what a command would have reached.
fn refused(command: &mut Command, reached: &str) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("a command would reach") && said.contains(reached), "{said}");
    assert!(said.contains("try: "), "{said}");
    assert!(output.stdout.is_empty(), "it ran: {output:?}");
}

fn ran(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stdout == b"ran\n", "{output:?}");
    output
}

/// A40
#[rstest]
#[case::records("AGENTCTL_STATE_DIR", "the records of what runs")]
#[case::audit_log("AGENTCTL_AUDIT_FILE", "the audit log")]
#[case::cache("XDG_CACHE_HOME", "the cache")]
#[case::configuration("XDG_CONFIG_HOME", "the user's configuration")]
#[case::trust("XDG_STATE_HOME", "the list of trusted configurations")]
#[case::engine("DOCKER_HOST", "the socket of a container engine")]
fn places_in_the_workspace_are_refused(#[case] variable: &str, #[case] reached: &str) {
    let place = Place::new();
    let inside = place.path().join("ours");
    let value = match variable {
        "DOCKER_HOST" => format!("unix://{}", inside.display()),
        _ => inside.display().to_string(),
    };
    let run = || place.agentctl(["run", "--", "echo", "ran"]);
    refused(run().env(variable, &value), reached);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing was made in the workspace");
    ran(&mut run());
    let elsewhere = tempfile::tempdir().unwrap();
    let mount = format!("{}:/data", place.path().display());
    let mut mounted = place.agentctl(["run", "--mount", &mount, "--", "echo", "ran"]);
    refused(mounted.current_dir(elsewhere.path()).env(variable, &value), reached);
}

/// A user without a runtime directory. Only root can act as one.
const STRANGER: u32 = 54_321;

/// A40: the directory of temporary files, for a user who has no other place for records and sockets.
#[test]
fn the_directory_of_temporary_files_is_refused_where_it_holds_our_records() {
    if !geteuid().is_root() {
        // Root's run of the same test covers this: the current user may have a runtime directory.
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (temporary, project) = (dir.path().join("tmp"), dir.path().join("tmp/project"));
    fs::create_dir_all(&project).unwrap();
    fs::copy(program(), dir.path().join("agentctl")).unwrap();
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    for path in [&temporary, &project] {
        chown(path, Some(STRANGER), Some(STRANGER)).unwrap();
    }
    let run = |workspace: &Path| {
        let mut command = Command::new(dir.path().join("agentctl"));
        command.args(["run", "--sandbox", "local", "--", "echo", "ran"]).current_dir(workspace);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("TMPDIR", &temporary);
        command.uid(STRANGER).gid(STRANGER);
        command
    };
    refused(&mut run(&temporary), "the records of what runs");
    ran(&mut run(&project));
    let records = temporary.join(format!("agentctl-{STRANGER}-state"));
    assert!(records.is_dir(), "the control: the records are there");
}

/// R22: a user can still force it.
#[test]
fn a_flag_named_for_the_danger_allows_it() {
    let place = Place::new();
    let mut run = place.agentctl(["run", "--allow-dangerous-mounts", "--", "echo", "ran"]);
    ran(run.env("AGENTCTL_AUDIT_FILE", place.path().join("audit.jsonl")));
}
