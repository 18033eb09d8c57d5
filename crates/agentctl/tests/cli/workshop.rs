//! `agentctl workshop`: one sandbox, several workers.

use std::io::Write;
use std::process::{Output, Stdio};

use crate::support::Place;

const SHOP: &str = "\
name: yard
isolation: process
workers:
  - builder
  - {name: reader, description: Looks and touches nothing, allowed-tools: [sandbox_status]}
";

const BUILDER: &str = "---\nname: builder\ndescription: Builds\nallowed-tools: [Bash]\ndelegates-to: [reader]\n---\nYou build.\n";

fn shop(text: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path().join("workers")).unwrap();
    place.file("shop.yaml", text);
    place.file("workers/builder.md", BUILDER);
    place
}

fn fed(place: &Place, input: &str) -> Output {
    let mut command = place.agentctl(["workshop", "run", "--quiet", "shop.yaml"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// R83
#[test]
fn check_lists_the_rights_of_each_worker() {
    let output = shop(SHOP).output(["workshop", "check", "shop.yaml"]);
    insta::assert_snapshot!(text(&output.stdout), @r"
    workshop yard, isolation process

    WORKER   TOOLS           DELEGATES TO  DESCRIPTION
    builder  run_command     reader        Builds
    reader   sandbox_status                Looks and touches nothing
    ");
    assert!(output.status.success());
}

/// R83: one sandbox for all, gone afterwards; the first failure ends it with its own code.
#[test]
fn workers_share_one_sandbox() {
    let place = shop(SHOP);
    let output = fed(
        &place,
        "# the plan\nbuilder: echo kept > /tmp/kept\nbuilder: cat /tmp/kept\nbuilder: exit 7\nbuilder: echo no\n",
    );
    assert_eq!(
        (text(&output.stdout), output.status.code()),
        ("kept\n".to_owned(), Some(7)),
        "{}",
        text(&output.stderr)
    );
    let later = place.output(["workshop", "run", "--quiet", "shop.yaml", "builder", "--", "ls", "/tmp/kept"]);
    assert_eq!(later.status.code(), Some(2), "{}", text(&later.stderr));
}

/// R83: a worker does only what its file allows, and a refusal also keeps the other workers from starting.
#[test]
fn a_worker_without_the_right_to_run_commands() {
    let place = shop(SHOP);
    let output = fed(&place, "builder: touch made\nreader: ls\n");
    assert_eq!(output.status.code(), Some(125));
    let said = text(&output.stderr);
    assert!(
        said.contains("the worker reader may not run commands: its allowed-tools are sandbox_status"),
        "{said}"
    );
    assert!(!place.path().join("made").exists());
    let stranger = place.output(["workshop", "run", "shop.yaml", "bulider", "--", "ls"]);
    assert!(text(&stranger.stderr).contains("did you mean `builder`?"), "{}", text(&stranger.stderr));
}

/// R83, A38: the files that assign rights can't be changed from inside.
#[test]
fn the_workshops_files_stay_as_they_are() {
    let place = shop(SHOP);
    let script = "echo x >> shop.yaml || echo x >> workers/builder.md || echo kept";
    let output =
        place.output(["workshop", "run", "--quiet", "shop.yaml", "builder", "--", "sh", "-c", script]);
    assert_eq!(text(&output.stdout), "kept\n", "{}", text(&output.stderr));
}

/// R83: the old form is refused with its line and its replacement.
#[test]
fn the_old_form_is_refused_with_the_new_one() {
    let output = shop("name: yard\nisolation: docker\nsandbox:\n  paths: [/srv/data]\nworkers: [builder]\n")
        .output(["workshop", "check", "shop.yaml"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("shop.yaml:3:1: `sandbox.paths` is the old form"), "{said}");
    assert!(said.contains("mounts: [\"/srv/data:/srv/data:rw\"]"), "{said}");
}
