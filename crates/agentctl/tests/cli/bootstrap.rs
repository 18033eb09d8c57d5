//! `agentctl bootstrap-docker` for a user who has a project and no image.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use crate::support::Place;

/// Its exit code, output and messages.
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
    agentctl: Dockerfile is stale: it differs from what would be generated now
      try: run `agentctl bootstrap-docker` here without --check
    ");
}

/// R73
#[test]
fn hand_written_files_are_replaced_only_by_force() {
    let place = go_project();
    place.file("Dockerfile", "FROM scratch\n");
    let (code, _, said) = bootstrap(&place, &[]);
    assert_eq!(code, Some(125));
    insta::assert_snapshot!(said, @r"
    agentctl: ./Dockerfile was not generated, and stays as it is
      try: pass --stdout to print the generated one, or pass --force to replace yours
    ");
    assert_eq!(fs::read_to_string(place.path().join("Dockerfile")).unwrap(), "FROM scratch\n");
    assert_eq!(bootstrap(&place, &["--force"]).0, Some(0));
    assert_eq!(bootstrap(&place, &["--check"]).0, Some(0));
}

/// A file that was made with a base is checked and regenerated with the base that the caller names, not with
/// the one in the file.
#[test]
fn a_base_is_named_again() {
    let place = go_project();
    let base = ["--base", "golang:1.22-alpine"];
    bootstrap(&place, &base);
    assert_eq!(bootstrap(&place, &[&["--check"], &base[..]].concat()).0, Some(0));
    assert_eq!(bootstrap(&place, &["--check"]).0, Some(125));
    assert!(
        bootstrap(&place, &[&["--stdout"], &base[..]].concat()).1.contains("\nFROM golang:1.22-alpine\n")
    );
}

/// R72: the bytes are the same for every user, in every place and at any time.
#[test]
fn language_and_time_zone_change_nothing() {
    let place = go_project();
    let printed = |language: &str, zone: &str| {
        let mut command = place.agentctl(["bootstrap-docker", "--stdout", "--compose"]);
        let output = command.env("LANG", language).env("LC_ALL", language).env("TZ", zone).output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
        output.stdout
    };
    let here = printed("C", "UTC");
    for (language, zone) in [("tr_TR.UTF-8", "Pacific/Kiritimati"), ("ja_JP.eucJP", "America/St_Johns")] {
        assert_eq!(printed(language, zone), here);
    }
}

/// Every decision is listed with its reason, and nothing is written.
#[test]
fn decisions_are_explained() {
    let place = go_project();
    let (code, out, _) = bootstrap(&place, &["--explain"]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(out, @r#"
    WHAT                           WHY
    Debian (golang:1.22-bookworm)  `go test -race` needs cgo, and this image has gcc and glibc
    Go 1.22                        go.mod says "go 1.22"
    Go modules in the image        the sandbox has no network, and finds them in /opt/go/mod
    "#);
    assert!(!place.path().join("Dockerfile").exists());
}

#[test]
fn an_empty_directory_is_reported() {
    let (code, _, said) = bootstrap(&Place::new(), &[]);
    assert_eq!(code, Some(125));
    insta::assert_snapshot!(said, @r"
    agentctl: this directory has no project: no go.mod, no package.json, no pyproject.toml, no requirements.txt, no Pipfile, no setup.py, no Cargo.toml, no pom.xml, no build.gradle, no Gemfile
      try: name the directory of a project, or begin one (`go mod init`, `npm init`, `cargo init` …)
    ");
}

/// An engine with one image, from a registry.
fn engine_with(image: &'static str, digest: &str, socket: &Path) -> std::io::Result<()> {
    let listener = UnixListener::bind(socket)?;
    let known = format!(
        "{{\"Id\":\"sha256:00\",\"RepoDigests\":[\"{}@{digest}\"]}}",
        image.split(':').next().unwrap()
    );
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(stream, image, &known);
        }
    });
    Ok(())
}

fn answer(mut stream: UnixStream, image: &str, known: &str) -> std::io::Result<()> {
    let mut asked = String::new();
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while let Some(line) = lines.next().transpose()?.filter(|line| !line.is_empty()) {
        asked.push_str(&line);
    }
    let (status, body) = match () {
        () if asked.contains("/_ping") => ("200 OK", "OK"),
        () if asked.contains(&format!("/images/{image}/json")) => ("200 OK", known),
        () => ("404 Not Found", "{\"message\":\"no such image\"}"),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nApi-Version: 1.41\r\nServer: Docker/20.10\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// R72: pinned to the digests that the engine reports, and kept without it; another image needs another
/// lookup.
#[test]
fn images_are_pinned_to_the_digests_of_the_engine() {
    let place = go_project();
    let digest = format!("sha256:{}", "0a".repeat(32));
    let socket = place.user().join("engine.sock");
    engine_with("golang:1.22-bookworm", &digest, &socket).unwrap();
    let asked = |options: &[&str]| {
        let mut command = place.agentctl(["bootstrap-docker"].iter().chain(options));
        let output = command.env("DOCKER_HOST", format!("unix://{}", socket.display())).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(asked(&["--digest"]).0, Some(0));
    let written = fs::read_to_string(place.path().join("Dockerfile")).unwrap();
    assert!(written.contains(&format!("\nFROM golang:1.22-bookworm@{digest}\n")), "{written}");
    assert_eq!(bootstrap(&place, &["--check"]).0, Some(0), "no engine is needed to check it");
    place.file("go.mod", "module example.com/app\n\ngo 1.23\n");
    let (code, _, said) = bootstrap(&place, &[]);
    assert_eq!(code, Some(125));
    insta::assert_snapshot!(said, @r"
    agentctl: Dockerfile was generated with --digest: used again
    agentctl: the files name images by their digests, and none is known of golang:1.23-bookworm
      try: pull it (`docker pull golang:1.23-bookworm`); pass --digest again
    ");
    let (code, said) = asked(&["--digest"]);
    assert_eq!(code, Some(125));
    insta::assert_snapshot!(said, @r"
    agentctl: docker: no digest is known of the image `golang:1.23-bookworm`: it is not here
      try: `docker pull golang:1.23-bookworm`, then try again
    ");
}

/// R74, R75: all files are written, with the options they were made with.
#[test]
fn an_application_with_agents() {
    let place = go_project();
    let (code, _, said) = bootstrap(&place, &["--compose", "--with-cli", "claude,codex@0.150.0"]);
    assert_eq!(code, Some(0), "{said}");
    insta::assert_snapshot!(said, @r"
    agentctl: wrote Dockerfile.dev
    agentctl: wrote .dockerignore
    agentctl: wrote Dockerfile
    agentctl: wrote docker-compose.yml
    agentctl: wrote docker-compose.prod.yml
    agentctl: wrote scripts/docker-build.sh
    agentctl: wrote scripts/docker-start.sh
    agentctl: wrote scripts/docker-stop.sh
    agentctl: wrote scripts/emergency-stop.sh
    agentctl: wrote scripts/docker-reload.sh
    ");
    assert_eq!(bootstrap(&place, &["--check"]).0, Some(0));
    let shown = bootstrap(&place, &["--stdout"]).1;
    assert!(
        shown.starts_with("==> Dockerfile.dev <==\n") && shown.contains("@openai/codex@0.150.0"),
        "{shown}"
    );
    let (code, _, said) = bootstrap(&place, &["--with-cli", "cursor"]);
    assert_eq!(code, Some(125), "{said}");
    assert!(said.contains("`cursor` is not a known agent: use one of claude, codex, gemini"), "{said}");
}
