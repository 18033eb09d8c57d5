//! The table of exit statuses.

use rstest::rstest;

use crate::support::Place;

/// R3, R4: the command's own status, whatever it is; a signal the way a shell shows it; a status of our own
/// for a command that did not run.
#[rstest]
#[case::success(&[], &["true"], 0)]
#[case::own(&[], &["sh", "-c", "exit 3"], 3)]
#[case::own_124(&[], &["sh", "-c", "exit 124"], 124)]
#[case::own_125(&[], &["sh", "-c", "exit 125"], 125)]
#[case::own_137(&[], &["sh", "-c", "exit 137"], 137)]
#[case::largest(&[], &["sh", "-c", "exit 255"], 255)]
#[case::killed(&[], &["sh", "-c", "kill -9 $$"], 137)]
#[case::terminated(&[], &["sh", "-c", "kill -15 $$"], 143)]
#[case::wall_time(&["--timeout", "200ms"], &["sleep", "60"], 124)]
#[case::idle_time(&["--idle-timeout", "200ms"], &["sleep", "60"], 124)]
#[case::too_much_output(&["--max-output", "1k"], &["head", "-c", "2000", "/dev/zero"], 153)]
#[case::not_there(&[], &["no-such-program"], 127)]
#[case::not_executable(&[], &["/etc/passwd"], 126)]
#[case::a_directory(&[], &["/usr"], 126)]
#[case::no_command(&[], &[], 125)]
#[case::by_name(&["--sandbox", "local"], &["sh", "-c", "exit 4"], 4)]
fn exits_with(#[case] options: &[&str], #[case] argv: &[&str], #[case] code: i32) {
    let args = ["run"].iter().chain(options).chain(&["--"]).chain(argv);
    let output = Place::new().output(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
}

/// Output written before a limit ends the run is kept.
#[test]
fn a_limit_is_named_with_its_option() {
    let output = Place::new().output(["run", "--timeout", "300ms", "--", "sh", "-c", "echo begun; sleep 60"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "begun\n");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.lines().any(|line| line.starts_with("agentctl: ") && line.contains("--timeout")), "{said}");
}

/// R62: a sandbox requested by name is never replaced by another.
#[test]
fn a_named_sandbox_does_not_fall_back() {
    for name in ["docker", "podman"] {
        let place = Place::new();
        let mut command = place.agentctl(["run", "--sandbox", name, "--", "touch", "ran"]);
        command.env("DOCKER_HOST", "unix:///no/such/engine.sock");
        let output = command.env("CONTAINER_HOST", "unix:///no/such/engine.sock").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{said}");
        assert!(said.starts_with(&format!("agentctl: {name}: ")) && said.contains("try: "), "{said}");
        assert!(!place.path().join("ran").exists());
    }
}

/// R62
#[test]
fn a_floor_that_no_sandbox_reaches_is_refused() {
    let place = Place::new();
    let output = place.output(["run", "--min-isolation", "vm", "--", "touch", "ran"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(!place.path().join("ran").exists());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--min-isolation"));
}

#[test]
fn help_and_version_succeed() {
    for args in [&["--help"][..], &["run", "--help"], &["shell", "-h"], &["--version"]] {
        let output = Place::new().output(args);
        assert!(output.status.success() && !output.stdout.is_empty() && output.stderr.is_empty(), "{args:?}");
    }
}
