//! Resolving a plan changes nothing on disk: not in the workspace, its repository or our own directories. Preparing it
//! creates what its cell needs.
//!
//! Our own directories depend on the environment, so each test starts itself again with its own environment.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use exec_core::{
    Access, Cmd, ExecOpts, Fences, MountSpec, OwnPlaces, Plan, WorkspaceMode, could_be_a_commands,
};

/// Names the directory of the child process.
const PLACE: &str = "PREPARE_PLACE";

fn in_a_place_of_its_own(test: &str, body: impl FnOnce(&Path)) {
    if let Some(place) = std::env::var_os(PLACE) {
        return body(Path::new(&place));
    }
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(PLACE, &root)
        .env("XDG_STATE_HOME", root.join("state"))
        .env("AGENTCTL_STATE_DIR", root.join("records"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

fn resolve(opts: &ExecOpts) -> Plan {
    Plan::resolve(&Cmd::new("true"), opts, [], &OwnPlaces::default()).unwrap()
}

#[test]
fn resolving_leaves_no_trace() {
    in_a_place_of_its_own("resolving_leaves_no_trace", |root| {
        for opts in requests(root) {
            let before = snapshot(root);
            let plan = resolve(&opts);
            assert_eq!(snapshot(root), before, "{opts:?}");
            // The control: preparing does change something.
            plan.prepare(Fences::Hold).unwrap();
            assert_ne!(snapshot(root), before, "{opts:?}");
            fs::remove_dir_all(root.join("state")).unwrap();
        }
    });
}

/// A13, A44
#[test]
fn preparing_puts_up_the_fences_and_notes_the_workspace() {
    in_a_place_of_its_own("preparing_puts_up_the_fences_and_notes_the_workspace", |root| {
        let workspace = root.join("own");
        new_repository(&workspace.join(".git"));
        let opts = ExecOpts::in_workspace(&workspace);
        let plan = resolve(&opts);
        assert_eq!((plan.has_fences(), plan.mounts.len()), (true, 1));
        assert!(!could_be_a_commands(&workspace), "a plan alone lets no command write");
        let prepared = plan.prepare(Fences::Hold).unwrap();
        assert!(could_be_a_commands(&workspace));
        let kept: Vec<_> = prepared.mounts.iter().filter(|mount| mount.access == Access::ReadOnly).collect();
        assert_eq!(kept.len(), 6);
        for mount in kept {
            assert_eq!(mount.id.ino, mount.source.symlink_metadata().unwrap().ino());
        }
        assert_eq!(prepared.without_fences().mounts, resolve(&opts).mounts);
        let again = resolve(&opts).prepare(Fences::Hold).unwrap();
        assert_eq!(again.mounts, prepared.mounts, "one cell serves both");
    });
}

/// Runs that have something to prepare, each in its own way.
fn requests(root: &Path) -> [ExecOpts; 5] {
    new_repository(&root.join("own/.git"));
    new_repository(&root.join("mounted/.git"));
    new_worktree(root);
    fs::write(root.join("own/config.toml"), "").unwrap();
    let own = ExecOpts::in_workspace(root.join("own"));
    let mut keeping = own.clone();
    keeping.kept_files = vec!["config.toml".into(), "missing.toml".into()];
    [
        own.clone(),
        keeping,
        own.clone().with_mount(MountSpec::read_write(root.join("mounted")).at("/mounted")),
        own.with_workspace_mode(WorkspaceMode::ReadOnly { writable: vec![".git".into()] }),
        ExecOpts::in_workspace(root.join("tree")),
    ]
}

/// Creates what `git init` creates. Some of the entries to protect are missing.
fn new_repository(git: &Path) {
    for directory in ["objects", "refs"] {
        fs::create_dir_all(git.join(directory)).unwrap();
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git.join("config"), "[core]\n").unwrap();
}

/// Creates a worktree of a repository elsewhere.
fn new_worktree(root: &Path) {
    let admin = root.join("main/.git/worktrees/tree");
    new_repository(&root.join("main/.git"));
    fs::create_dir_all(&admin).unwrap();
    fs::create_dir(root.join("tree")).unwrap();
    fs::write(root.join("tree/.git"), format!("gitdir: {}\n", admin.display())).unwrap();
    fs::write(admin.join("HEAD"), "ref: refs/heads/tree\n").unwrap();
    fs::write(admin.join("commondir"), "../..\n").unwrap();
    fs::write(admin.join("gitdir"), format!("{}\n", root.join("tree/.git").display())).unwrap();
}

/// The identity, mode, change time and contents of an entry.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    inode: u64,
    mode: u32,
    changed: (i64, i64),
    contents: Vec<u8>,
}

/// Every entry below a directory.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let contents = if metadata.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        let (inode, mode) = (metadata.ino(), metadata.mode());
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        found.insert(path, Entry { inode, mode, changed, contents });
    }
    found
}
