//! `agentctl bootstrap-docker` as somebody meets it who has a project and no image.

use std::fs;

use crate::support::Place;

/// What it exits with, prints and says.
fn bootstrap(place: &Place, options: &[&str]) -> (Option<i32>, String, String) {
    let output = place.output(["bootstrap-docker"].iter().chain(options));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn go_project() -> Place {
    let place = Place::new();
    place.file("go.mod", "module example.com/app\n\ngo 1.22\n");
    place
}

/// R71, R73
#[test]
fn a_project_gets_its_files_and_keeps_them() {
    let place = go_project();
    let (code, out, said) = bootstrap(&place, &[]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{said}");
    insta::assert_snapshot!(said, @r"
    agentctl: wrote Dockerfile
    agentctl: wrote .dockerignore
    ");
    let written = fs::read_to_string(place.path().join("Dockerfile")).unwrap();
    assert!(written.contains("\nFROM golang:1.22-bookworm\n"), "{written}");
    assert_eq!(bootstrap(&place, &["--stdout"]).1, written);
    insta::assert_snapshot!(bootstrap(&place, &[]).2, @r"
    agentctl: Dockerfile is up to date
    agentctl: .dockerignore is up to date
    ");
}

/// R73: 0 when the files are current, 1 when they are not.
#[test]
fn a_check_fails_when_the_project_has_changed() {
    let place = go_project();
    assert_eq!(bootstrap(&place, &["--check"]).0, Some(1), "nothing is there yet");
    bootstrap(&place, &[]);
    assert_eq!(bootstrap(&place, &["--check"]), (Some(0), String::new(), String::new()));
    place.file("go.mod", "module example.com/app\n\ngo 1.23\n");
    let (code, _, said) = bootstrap(&place, &["--check"]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(said, @r"
    agentctl: Dockerfile is stale: something else would be generated now
      try: run `agentctl bootstrap-docker` here without --check
    ");
}

/// R73
#[test]
fn what_a_person_wrote_is_replaced_only_by_force() {
    let place = go_project();
    place.file("Dockerfile", "FROM scratch\n");
    let (code, _, said) = bootstrap(&place, &[]);
    assert_eq!(code, Some(125));
    insta::assert_snapshot!(said, @r"
    agentctl: ./Dockerfile was not generated, and stays as it is
      try: print the generated one with --stdout, or replace yours with --force
    ");
    assert_eq!(fs::read_to_string(place.path().join("Dockerfile")).unwrap(), "FROM scratch\n");
    assert_eq!(bootstrap(&place, &["--force"]).0, Some(0));
    assert_eq!(bootstrap(&place, &["--check"]).0, Some(0));
}

/// A file is checked and made again with the base it was made with.
#[test]
fn a_base_is_kept() {
    let place = go_project();
    bootstrap(&place, &["--base", "golang:1.22-alpine"]);
    assert_eq!(bootstrap(&place, &["--check"]).0, Some(0));
    assert!(bootstrap(&place, &["--stdout"]).1.contains("\nFROM golang:1.22-alpine\n"));
}

/// Every decision with its reason, and nothing is written.
#[test]
fn decisions_are_explained() {
    let place = go_project();
    let (code, out, _) = bootstrap(&place, &["--explain"]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(out, @r#"
    WHAT                           WHY
    Debian (golang:1.22-bookworm)  `go test -race` needs cgo, and this image has gcc and glibc
    Go 1.22                        go.mod says "go 1.22"
    Go modules in the image        there is no network in the sandbox, and /opt/go/mod is found there
    "#);
    assert!(!place.path().join("Dockerfile").exists());
}

#[test]
fn an_empty_directory_is_told() {
    let (code, _, said) = bootstrap(&Place::new(), &[]);
    assert_eq!(code, Some(125));
    insta::assert_snapshot!(said, @r"
    agentctl: there is no project here: no go.mod, no package.json, no pyproject.toml, no requirements.txt, no Pipfile, no setup.py, no Cargo.toml, no pom.xml, no build.gradle, no Gemfile
      try: name the directory of a project, or begin one (`go mod init`, `npm init`, `cargo init` …)
    ");
}
