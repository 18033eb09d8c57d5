//! Looking for a sandbox leaves the current directory as it is.
//!
//! The current directory belongs to the process, so the test starts itself again in its own directory.
#![cfg(all(feature = "local", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_exec::ExecOpts;

/// Set in the child process.
const HERE: &str = "AUTO_HERE";

#[test]
fn auto_leaves_a_repository_as_it_is() {
    if std::env::var_os(HERE).is_none() {
        return start_again("auto_leaves_a_repository_as_it_is");
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let before = entries(Path::new("."));
        let sandbox = agent_exec::auto().await.unwrap();
        assert_eq!(sandbox.selection().name, "local");
        assert_eq!(entries(Path::new(".")), before);
        assert!(!agent_exec::could_be_a_commands(&std::env::current_dir().unwrap()));
        // The control: a first run does change the directory.
        let builder = agent_exec::builder().sandbox("local").first_run(ExecOpts::default());
        builder.build().await.unwrap();
        assert_ne!(entries(Path::new(".")), before);
    });
}

/// Starts this test again, in a new repository and without an engine.
fn start_again(test: &str) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let workspace = root.join("workspace");
    for directory in [".git/objects", ".git/refs"] {
        fs::create_dir_all(workspace.join(directory)).unwrap();
    }
    fs::write(workspace.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(workspace.join(".git/config"), "[core]\n").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .current_dir(&workspace)
        .env(HERE, "1")
        .env("PATH", "/usr/bin")
        .env("DOCKER_HOST", "unix:///nowhere")
        .env("CONTAINER_HOST", "unix:///nowhere")
        .env("XDG_STATE_HOME", root.join("state"))
        .env("AGENTCTL_STATE_DIR", root.join("records"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// The contents of every file below a directory.
fn entries(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        let contents = fs::read(&path).ok();
        if contents.is_none() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, contents);
    }
    found
}
