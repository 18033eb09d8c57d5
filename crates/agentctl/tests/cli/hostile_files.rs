//! A43: files that are read or written by name in a workspace, after a command has been there. The name may
//! now be a link, a pipe, a socket, a directory, huge or deep: it is refused or replaced, nothing outside
//! changes, and nothing blocks.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use rstest::rstest;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use crate::support::{Place, wait};

/// A user's workspace, and a place outside that must stay unchanged.
struct Hostile {
    place: Place,
    outside: TempDir,
}

/// What a command leaves under a name.
#[derive(Debug, Clone, Copy)]
enum Planted {
    Link,
    DanglingLink,
    LinkToDevice,
    Pipe,
    Socket,
    Directory,
    Sparse,
}

use Planted::{DanglingLink, Directory, Link, LinkToDevice, Pipe, Socket, Sparse};

const TREASURE: &str = "theirs\n";

impl Hostile {
    fn new() -> Self {
        let place = Place::new();
        place.file("go.mod", "module example.com/app\n\ngo 1.22\n");
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("treasure"), TREASURE).unwrap();
        Self { place, outside }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn plant(&self, name: &str, what: Planted) {
        let path = self.path(name);
        match what {
            Link => symlink(self.outside.path().join("treasure"), path).unwrap(),
            DanglingLink => symlink(self.outside.path().join("new"), path).unwrap(),
            LinkToDevice => symlink("/dev/zero", path).unwrap(),
            Pipe => mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
            Socket => drop(UnixListener::bind(path).unwrap()),
            Directory => fs::create_dir(path).unwrap(),
            Sparse => File::create(path).unwrap().set_len(10 << 30).unwrap(),
        }
    }

    /// Runs to the end, which must come.
    fn agentctl(&self, args: &[&str]) -> Output {
        let mut command = self.place.agentctl(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait(&mut child);
        let output = child.wait_with_output().unwrap();
        self.outside_is_unchanged();
        output
    }

    fn outside_is_unchanged(&self) {
        let names: Vec<_> =
            fs::read_dir(self.outside.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["treasure"]);
        assert_eq!(fs::read_to_string(self.outside.path().join("treasure")).unwrap(), TREASURE);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// A43: every file that `bootstrap-docker` reads and writes, as everything but a file. `--force` replaces it,
/// except a directory.
#[rstest]
fn bootstrap_follows_no_links(
    #[values(Link, DanglingLink, LinkToDevice, Pipe, Socket, Directory, Sparse)] what: Planted,
    #[values(
        "Dockerfile",
        "Dockerfile.dev",
        ".dockerignore",
        "docker-compose.yml",
        "scripts/docker-stop.sh"
    )]
    name: &str,
) {
    let hostile = Hostile::new();
    if name.starts_with("scripts/") {
        fs::create_dir(hostile.path("scripts")).unwrap();
    }
    hostile.plant(name, what);
    for options in [&["--check"][..], &[], &["--compose"], &["--stdout", "--compose"]] {
        hostile.agentctl(&[&["bootstrap-docker"], options].concat());
        assert!(!is_file(&hostile.path(name)) || matches!(what, Sparse), "it stays without --force");
    }
    let forced = hostile.agentctl(&["bootstrap-docker", "--compose", "--force"]);
    let replaced = !matches!(what, Directory);
    assert_eq!(forced.status.success(), replaced, "{}", said(&forced));
    assert_eq!(is_file(&hostile.path(name)), replaced);
    assert!(!replaced || fs::metadata(hostile.path(name)).unwrap().len() < 1 << 20);
}

/// A43: the directory of the scripts is a link to another place.
#[test]
fn bootstrap_writes_no_scripts_through_a_link() {
    let hostile = Hostile::new();
    symlink(hostile.outside.path(), hostile.path("scripts")).unwrap();
    let output = hostile.agentctl(&["bootstrap-docker", "--compose", "--force"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(said(&output).contains("scripts/docker-build.sh"), "{}", said(&output));
}

/// A43: the names that earlier versions used for their drafts, for every possible process id.
#[test]
fn bootstrap_uses_no_predictable_names() {
    let hostile = Hostile::new();
    for pid in 1..50_000 {
        symlink(hostile.outside.path().join("treasure"), hostile.path(&format!("Dockerfile.{pid}.new")))
            .unwrap();
    }
    let output = hostile.agentctl(&["bootstrap-docker"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(is_file(&hostile.path("Dockerfile")));
}

/// The files of a project, as everything but files.
#[rstest]
fn bootstrap_reads_nothing_but_files(
    #[values(Link, DanglingLink, LinkToDevice, Pipe, Socket, Sparse)] what: Planted,
    #[values("package.json", "Cargo.lock", ".npmrc", ".gitignore")] name: &str,
) {
    let hostile = Hostile::new();
    hostile.place.file("Cargo.toml", "[package]\nname = \"x\"\n");
    hostile.plant(name, what);
    let output = hostile.agentctl(&["bootstrap-docker", "--stdout"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("theirs"));
}

/// A43: a command can write the header of a generated file, so the header must not choose the base image.
#[test]
fn bootstrap_takes_no_image_from_a_header() {
    let hostile = Hostile::new();
    let planted = "# Generated by agentctl bootstrap-docker. Remove this line to keep your own changes.\n\
                   # Regenerate: agentctl bootstrap-docker --base evil.example/image --compose\n";
    hostile.place.file("Dockerfile", planted);
    let output = hostile.agentctl(&["bootstrap-docker"]);
    assert_eq!(output.status.code(), Some(125));
    insta::assert_snapshot!(said(&output), @r"
    agentctl: Dockerfile says that it was generated with the base image evil.example/image
      try: use --base evil.example/image if that is yours (a command can write this line), or remove Dockerfile
    ");
    assert_eq!(fs::read_to_string(hostile.path("Dockerfile")).unwrap(), planted, "nothing is written");
    let output = hostile.agentctl(&["bootstrap-docker", "--base", "golang:1.22-alpine", "--stdout"]);
    insta::assert_snapshot!(said(&output), @"agentctl: Dockerfile was generated with --compose: used again");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("\nFROM golang:1.22-alpine") && !printed.contains("evil"), "{printed}");
}

/// A43: the project's configuration, as everything but a file: never written through, never read, never
/// waited for.
#[rstest]
fn a_configuration_is_a_file(
    #[values(Link, DanglingLink, LinkToDevice, Pipe, Socket, Directory, Sparse)] what: Planted,
) {
    let hostile = Hostile::new();
    hostile.plant(".agentctl.toml", what);
    for args in [&["show"][..], &["trust"], &["check", ".agentctl.toml"], &["init"]] {
        let output = hostile.agentctl(&[&["config"], args].concat());
        assert_eq!(output.status.code(), Some(125), "{args:?}: {}", said(&output));
    }
    let output = hostile.agentctl(&["run", "--", "true"]);
    assert_eq!(output.status.code(), Some(125), "{}", said(&output));
    let forced = hostile.agentctl(&["config", "init", "--force"]);
    let replaced = !matches!(what, Directory);
    assert_eq!(forced.status.success(), replaced, "{}", said(&forced));
    assert_eq!(is_file(&hostile.path(".agentctl.toml")), replaced);
}

/// A41: the list of trusted files is used only if its directory is closed to other writers.
#[test]
fn trust_is_not_kept_where_others_write() {
    let hostile = Hostile::new();
    hostile.place.file(".agentctl.toml", "network = 'host'\n");
    let state = hostile.place.user().join("agentctl");
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    for args in [["config", "trust"], ["config", "show"]] {
        let output = hostile.agentctl(&args);
        assert_eq!(output.status.code(), Some(125));
        assert!(said(&output).contains("it is open to others (mode 777)"), "{}", said(&output));
    }
}

/// A workshop and its workers, which may be in a workspace.
#[rstest]
fn a_workshop_is_made_of_files(
    #[values(DanglingLink, LinkToDevice, Pipe, Socket, Directory, Sparse)] what: Planted,
) {
    let hostile = Hostile::new();
    fs::create_dir(hostile.path("workers")).unwrap();
    hostile.plant("shop.yaml", what);
    hostile.plant("workers/builder.md", what);
    let output = hostile.agentctl(&["workshop", "check", "shop.yaml"]);
    assert_eq!(output.status.code(), Some(125), "{}", said(&output));
    assert!(said(&output).contains("can't read shop.yaml"), "{}", said(&output));
    hostile.place.file("mine.yaml", "name: x\nisolation: process\nworkers: [builder]\n");
    let output = hostile.agentctl(&["workshop", "check", "mine.yaml"]);
    assert!(said(&output).contains("can't read the worker's file"), "{}", said(&output));
}

/// Manual pages are written to a directory of the user's choice, which may be a workspace.
#[rstest]
fn manual_pages_follow_no_links(#[values(Link, DanglingLink, LinkToDevice, Pipe, Socket)] what: Planted) {
    let hostile = Hostile::new();
    hostile.plant("agentctl-run.1", what);
    let output = hostile.agentctl(&["man", "."]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(is_file(&hostile.path("agentctl-run.1")) && is_file(&hostile.path("agentctl.1")));
}
