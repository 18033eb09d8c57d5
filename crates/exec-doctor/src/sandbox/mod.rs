//! Checks of a sandbox, from both sides.

mod cell;
mod limits;
mod network;
mod ownership;
mod stop;
mod worktree;

use std::time::Duration;

use exec_core::{Cmd, Error, ErrorKind, ExecOpts, ExecResult, Executor, Remedy};
use tempfile::TempDir;

use crate::{Check, Host, Verdict};

/// A check that takes longer hangs: even a cold engine creates a cell in seconds.
const AT_MOST: Duration = Duration::from_secs(60);

/// The input of a check.
struct Patient<'a> {
    executor: &'a dyn Executor,
    /// The caller's options, on a workspace of our own.
    opts: ExecOpts,
    workspace: &'a TempDir,
    host: &'a Host,
}

impl Patient<'_> {
    async fn shell(&self, script: &str) -> Result<ExecResult, Verdict> {
        self.run(&Cmd::shell(script), &self.opts).await
    }

    async fn run(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<ExecResult, Verdict> {
        self.executor.run(cmd, opts).await.map_err(|error| not_run(&error))
    }
}

/// A program missing inside says nothing about the sandbox.
fn not_run(error: &Error) -> Verdict {
    match error.kind() {
        ErrorKind::ProgramNotFound => Verdict::not_tried(error.reason()),
        _ => Verdict::of_error(error),
    }
}

/// Creates cells with this executor and checks what works. Image, network and limits are those of `opts`; the
/// workspace is a temporary directory. If no cell can be created, the other checks are skipped.
pub async fn examine(executor: &dyn Executor, opts: &ExecOpts, host: &Host) -> Vec<Check> {
    let workspace = match TempDir::with_prefix("agentctl-doctor-") {
        Ok(workspace) => workspace,
        Err(error) => {
            let fix = Remedy::host("free some space there, or set TMPDIR to a directory you can write");
            let verdict = Verdict::fails(format!("no temporary directory can be made: {error}"), fix);
            return vec![Check { name: "workspace", verdict }];
        }
    };
    let mut own = opts.clone();
    own.workspace = ExecOpts::in_workspace(workspace.path()).workspace;
    own.cwd = None;
    give_to_the_commands_user(workspace.path(), &own, host);
    let patient = Patient { executor, opts: own, workspace: &workspace, host };
    let mut checks = vec![within("cell", cell::check(&patient)).await];
    if !checks.iter().any(|check| check.verdict.is_failure()) {
        checks.push(within("limits", limits::check(&patient)).await);
        checks.push(within("network", network::check(&patient)).await);
        checks.push(within("ownership", ownership::check(&patient)).await);
        checks.push(within("git worktree", worktree::check(&patient)).await);
        checks.push(within("stop", stop::check(&patient)).await);
    }
    checks
}

/// Root may run commands as another user, who must be able to write there.
#[cfg(unix)]
fn give_to_the_commands_user(workspace: &std::path::Path, opts: &ExecOpts, host: &Host) {
    use exec_core::{NOBODY, Preset, User};
    let (uid, gid) = match opts.user {
        User::Id { uid, gid } => (uid, gid),
        User::Auto if opts.limits.preset == Preset::Strict => NOBODY,
        User::Auto => return,
    };
    if host.root {
        // If this is refused, the run fails, too, and reports why.
        std::os::unix::fs::chown(workspace, Some(uid), Some(gid)).ok();
    }
}

#[cfg(not(unix))]
fn give_to_the_commands_user(_: &std::path::Path, _: &ExecOpts, _: &Host) {}

/// An error that stops a check early is also its verdict.
async fn within(name: &'static str, check: impl Future<Output = Result<Verdict, Verdict>>) -> Check {
    let verdict = match tokio::time::timeout(AT_MOST, check).await {
        Ok(Ok(verdict) | Err(verdict)) => verdict,
        Err(_) => Verdict::fails(
            "it hangs",
            Remedy::host("see what the machine and its engine are busy with, and try again"),
        ),
    };
    Check { name, verdict }
}
