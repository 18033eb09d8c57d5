//! Whether git works inside a linked worktree, with the same result on the host.

use std::path::Path;
use std::process::Stdio;

use exec_core::{Cmd, ExecOpts, SearchPath};
use tempfile::TempDir;
use tokio::process::Command;

use super::Patient;
use crate::Verdict;

/// Git needs an author; a fixed one keeps it independent of the user's configuration.
const IDENTITY: [&str; 4] = ["-c", "user.name=doctor", "-c", "user.email=doctor@example.org"];

pub(super) async fn check(patient: &Patient<'_>) -> Result<Verdict, Verdict> {
    if !is_ours(patient.workspace.path()) {
        return Err(Verdict::not_tried("the user of the command can't write a repository of yours"));
    }
    // Separate from the other checks' workspace: a repository that a command could have written is not followed.
    let place = TempDir::with_prefix("agentctl-doctor-").map_err(Verdict::not_tried)?;
    let (main, linked) = (place.path().join("main"), place.path().join("linked"));
    let linked_text = linked.to_string_lossy().into_owned();
    std::fs::create_dir(&main).map_err(Verdict::not_tried)?;
    for args in [
        &["init", "-q"][..],
        &["commit", "-q", "--allow-empty", "-m", "first"],
        &["worktree", "add", "-q", &linked_text],
    ] {
        git(&main, args).await?;
    }
    let mut opts = patient.opts.clone();
    opts.workspace = ExecOpts::in_workspace(&linked).workspace;
    let inside = Cmd::new("git").args(IDENTITY).args(["commit", "-q", "--allow-empty", "-m", "made inside"]);
    let result = patient.run(&inside, &opts).await?;
    if !result.success() {
        let said = format!("git inside reports: {}", result.stderr.text().trim());
        return Ok(Verdict::fails(said, "use a git inside that is as new as the host's"));
    }
    let seen = git(&linked, &["log", "--format=%s", "-1"]).await?;
    Ok(match seen.trim() {
        "made inside" => Verdict::holds("a commit made inside a linked worktree is visible here"),
        other => Verdict::fails(
            format!("a commit made inside is not visible here, where the last is `{other}`"),
            "share the whole repository with the engine",
        ),
    })
}

#[cfg(unix)]
fn is_ours(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    directory.metadata().is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_ours(_: &Path) -> bool {
    true
}

/// Runs git on the host and returns its output.
async fn git(dir: &Path, args: &[&str]) -> Result<String, Verdict> {
    let path = SearchPath::here();
    let program = path.find("git").ok_or_else(|| Verdict::not_tried("there is no git here"))?;
    let output = Command::new(program)
        .env("PATH", path.as_os_str())
        .args(IDENTITY)
        .args(args)
        .current_dir(dir)
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|error| Verdict::not_tried(format!("git is not installed ({error})")))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Verdict::not_tried(format!("git {} says here: {}", args.join(" "), said.trim())))
    }
}
