//! Reading projects from disk, and writing to it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use exec_bootstrap::{
    DOCKERFILE, DOCKERIGNORE, Existing, Outcome, Plan, Project, Scope, Standing, Tree, Wishes,
};
use exec_core::Result;
use tempfile::{TempDir, tempdir};

const GO: &str = "module x\n\ngo 1.22\n";

fn project(files: &[(&str, &str)]) -> TempDir {
    let directory = tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn read(root: &Path) -> Result<Tree> {
    Project::open(root)?.read()
}

fn check(root: &Path, plan: &Plan) -> Result<Vec<(&'static str, Standing)>> {
    Project::open(root)?.check(plan)
}

fn write(root: &Path, plan: &Plan, existing: Existing) -> Result<Vec<(&'static str, Outcome)>> {
    Project::open(root)?.write(plan, existing)
}

/// The caller names the same base.
fn remembered(root: &Path, base: Option<&str>) -> Wishes {
    let asked = Wishes { base: base.map(str::to_owned), ..Wishes::default() };
    Project::open(root).unwrap().remembered().unwrap().unwrap().complete(asked).unwrap()
}

fn plan(root: &Path) -> Plan {
    Plan::of(&read(root).unwrap(), &Wishes::default()).unwrap()
}

#[test]
fn only_relevant_files_are_read() {
    let files = [("go.mod", GO), ("web/package.json", "{}"), ("web/.nvmrc", "20\n")];
    let directory = project(&files);
    for useless in ["main.go", "node_modules/x/package.json", ".git/config", "target/package/Cargo.toml"] {
        let path = directory.path().join(useless);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "not even a manifest").unwrap();
    }
    assert_eq!(read(directory.path()).unwrap(), Tree::of_texts(files));
}

/// A3: a link that leads out of the project is not followed, neither to a file nor to a directory.
#[test]
fn links_do_not_lead_out() {
    let outside = project(&[("go.mod", GO), ("secret/package.json", "{}")]);
    let directory = project(&[("Cargo.toml", "[package]\nname = \"x\"\n")]);
    symlink(outside.path().join("secret"), directory.path().join("web")).unwrap();
    assert!(plan(directory.path()).dockerfile().contains("FROM rust:"));
    symlink(outside.path().join("go.mod"), directory.path().join("go.mod")).unwrap();
    let error = Plan::of(&read(directory.path()).unwrap(), &Wishes::default()).unwrap_err();
    assert_eq!(error.to_string(), "can't read go.mod: it is a link to an absolute path");
    // The positive control: a link within the project is treated like any file.
    fs::remove_file(directory.path().join("go.mod")).unwrap();
    fs::write(directory.path().join("shared"), GO).unwrap();
    symlink("shared", directory.path().join("go.mod")).unwrap();
    assert!(plan(directory.path()).dockerfile().contains("golang:1.22"));
}

#[test]
fn unreadable_files_are_reported() {
    let directory = project(&[("Cargo.toml", "[package]\nname = \"x\"\n")]);
    fs::write(directory.path().join("Cargo.lock"), [0xff, 0xfe, 0]).unwrap();
    let error = Plan::of(&read(directory.path()).unwrap(), &Wishes::default()).unwrap_err();
    assert_eq!(error.to_string(), "can't read Cargo.lock: it is not UTF-8 text");
    assert!(error.remedy().unwrap().to_string().contains("Cargo.lock"));
}

/// A lock file that is too long to read still counts.
#[test]
fn a_huge_lock_file_still_counts() {
    let directory = project(&[("package.json", "{}"), ("yarn.lock", &"x".repeat(5 << 20))]);
    assert!(plan(directory.path()).dockerfile().contains("yarn install --frozen-lockfile"));
}

#[test]
fn a_missing_directory_is_reported() {
    let error = read(Path::new("/no/such/project")).unwrap_err();
    assert!(error.to_string().contains("/no/such/project"), "{error}");
}

/// R73
#[test]
fn files_are_written_once_and_again_when_the_project_changes() {
    let directory = project(&[("go.mod", GO)]);
    let root = directory.path();
    let standings = |root| -> Vec<_> {
        check(root, &plan(root)).unwrap().into_iter().map(|(_, standing)| standing).collect()
    };
    assert_eq!(standings(root), [Standing::Missing; 2]);
    let written = [(DOCKERFILE, Outcome::Written), (DOCKERIGNORE, Outcome::Written)];
    assert_eq!(write(root, &plan(root), Existing::Keep).unwrap(), written);
    assert_eq!(standings(root), [Standing::Current; 2], "its own files change nothing");
    let unchanged = [(DOCKERFILE, Outcome::Unchanged), (DOCKERIGNORE, Outcome::Unchanged)];
    assert_eq!(write(root, &plan(root), Existing::Keep).unwrap(), unchanged);
    fs::write(root.join("go.mod"), "module x\n\ngo 1.23\n").unwrap();
    assert_eq!(standings(root), [Standing::Stale, Standing::Current]);
    write(root, &plan(root), Existing::Keep).unwrap();
    assert!(fs::read_to_string(root.join(DOCKERFILE)).unwrap().contains("golang:1.23-bookworm"));
}

/// R73
#[test]
fn hand_written_files_stay() {
    let directory = project(&[("go.mod", GO), (DOCKERIGNORE, "mine\n")]);
    let root = directory.path();
    let kept = write(root, &plan(root), Existing::Keep).unwrap();
    assert_eq!(kept, [(DOCKERFILE, Outcome::Written), (DOCKERIGNORE, Outcome::Kept)]);
    fs::write(root.join(DOCKERFILE), "FROM scratch\n").unwrap();
    let error = write(root, &plan(root), Existing::Keep).unwrap_err();
    assert!(error.to_string().ends_with("was not generated, and stays as it is"), "{error}");
    assert_eq!(fs::read_to_string(root.join(DOCKERFILE)).unwrap(), "FROM scratch\n");
    write(root, &plan(root), Existing::Replace).unwrap();
    assert!(fs::read_to_string(root.join(DOCKERFILE)).unwrap().starts_with("# Generated by agentctl"));
}

/// A link in place of the file is replaced; its target stays unchanged.
#[test]
fn nothing_is_written_through_a_link() {
    let outside = project(&[("target", "theirs\n")]);
    let directory = project(&[("go.mod", GO)]);
    symlink(outside.path().join("target"), directory.path().join(DOCKERFILE)).unwrap();
    write(directory.path(), &plan(directory.path()), Existing::Replace).unwrap();
    assert_eq!(fs::read_to_string(outside.path().join("target")).unwrap(), "theirs\n");
    assert!(directory.path().join(DOCKERFILE).symlink_metadata().unwrap().is_file());
}

#[test]
fn a_base_is_remembered() {
    let directory = project(&[("go.mod", GO)]);
    let made_with = Wishes { base: Some("golang:1.22-alpine".to_owned()), ..Wishes::default() };
    let plan = Plan::of(&read(directory.path()).unwrap(), &made_with).unwrap();
    write(directory.path(), &plan, Existing::Keep).unwrap();
    assert_eq!(remembered(directory.path(), Some("golang:1.22-alpine")), made_with);
}

/// R74: scripts are executable, hand-written files are kept, and generated ones are recognized.
#[test]
fn a_compose_project_keeps_existing_files() {
    let directory = project(&[("go.mod", GO), ("docker-compose.yml", "services: {}\n")]);
    let made_with = Wishes { scope: Scope::Compose, ..Wishes::default() };
    let plan = Plan::of(&read(directory.path()).unwrap(), &made_with).unwrap();
    let outcomes = write(directory.path(), &plan, Existing::Keep).unwrap();
    let kept: Vec<_> = outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Kept).collect();
    assert_eq!(kept, [&("docker-compose.yml", Outcome::Kept)]);
    let mode = |path| fs::metadata(directory.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("scripts/docker-stop.sh"), 0o755);
    assert_eq!(remembered(directory.path(), None), made_with);
    let again = Plan::of(&read(directory.path()).unwrap(), &made_with).unwrap();
    let standings = check(directory.path(), &again).unwrap();
    assert!(standings.iter().all(|(name, standing)| {
        *standing == if *name == "docker-compose.yml" { Standing::HandWritten } else { Standing::Current }
    }));
}

/// A3: nothing is written into a directory that is a link.
#[test]
fn scripts_are_not_written_through_a_link() {
    let (outside, directory) = (tempdir().unwrap(), project(&[("go.mod", GO)]));
    symlink(outside.path(), directory.path().join("scripts")).unwrap();
    let wishes = Wishes { scope: Scope::Compose, ..Wishes::default() };
    let plan = Plan::of(&read(directory.path()).unwrap(), &wishes).unwrap();
    assert!(write(directory.path(), &plan, Existing::Keep).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}
