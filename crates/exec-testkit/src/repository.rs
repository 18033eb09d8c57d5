//! Repositories on the host, made and inspected with the real git.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use exec_core::{Cmd, ErrorKind, ExecOpts, ExecResult};
use tempfile::TempDir;

use crate::probe::open_to_all;
use crate::{Ctx, Skip, check};

/// Git needs an author, and the cases read no user's home.
const IDENTITY: [&str; 4] = ["-c", "user.name=Case", "-c", "user.email=case@example.org"];

/// Git inside with these arguments.
pub(crate) fn git(args: &[&str]) -> Cmd {
    Cmd::new("git").args(IDENTITY).args(args)
}

/// Runs git inside, where it must succeed, and returns its output.
pub(crate) async fn git_inside(ctx: &Ctx, opts: &ExecOpts, args: &[&str]) -> Result<String> {
    let result = ctx.run(&git(args), opts).await?;
    check::exited(&result, 0).with_context(|| format!("git {}", args.join(" ")))?;
    Ok(result.stdout.text().trim_end().to_owned())
}

/// Skips the case unless both sides have git.
pub(crate) async fn need_git(ctx: &Ctx) -> Result<()> {
    if let Err(error) = git_outside(ctx.workspace(), None, &["--version"]) {
        bail!(Skip(format!("the host has no git: {error:#}")));
    }
    match ctx.executor().run(&git(&["--version"]), &ctx.opts()).await {
        Err(error) if error.kind() == ErrorKind::ProgramNotFound => {
            bail!(Skip("the sandbox has no git".into()))
        }
        result => check::exited(&result?, 0),
    }
}

/// Runs git on the host, with only the repository's configuration, and returns its output.
pub(crate) fn git_outside(dir: &Path, user: Option<u32>, args: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command
        .args(IDENTITY)
        .args(["-c", "safe.directory=*"])
        .args(args)
        .current_dir(dir)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let output = command.output().context("can't run git on the host")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {} ended with {}: {said}", args.join(" "), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// A repository with one commit and a main worktree, and two worktrees linked to it: the workspace and another.
pub(crate) struct Worktrees {
    dir: TempDir,
    user: Option<u32>,
}

impl Worktrees {
    /// Worktrees of the caller.
    pub(crate) fn new(ctx: &Ctx) -> Result<Self> {
        Self::of(ctx, None)
    }

    /// Worktrees of this user; only root can make them for others.
    pub(crate) fn of(ctx: &Ctx, user: Option<u32>) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("exec-case.").tempdir()?;
        open_to_all(dir.path())?;
        chown(dir.path(), user, user)?;
        let all = Self { dir, user };
        git_outside(all.dir.path(), user, &["init", "-q", "-b", "main", "main"])?;
        fs::write(all.main().join("file"), "one\n")?;
        fs::write(all.main().join(".gitignore"), "exec-probe\n")?;
        all.git(&all.main(), &["add", "."])?;
        all.git(&all.main(), &["commit", "-q", "-m", "one"])?;
        for name in ["own", "other"] {
            all.git(&all.main(), &["worktree", "add", "-q", "-b", name, &format!("../{name}")])?;
        }
        fs::hard_link(ctx.host_probe(), all.own().join("exec-probe"))?;
        Ok(all)
    }

    /// The main worktree.
    pub(crate) fn main(&self) -> PathBuf {
        self.dir.path().join("main")
    }

    /// The workspace.
    pub(crate) fn own(&self) -> PathBuf {
        self.dir.path().join("own")
    }

    /// The workspace of another agent.
    pub(crate) fn other(&self) -> PathBuf {
        self.dir.path().join("other")
    }

    /// The default options in the workspace.
    pub(crate) fn opts(&self) -> ExecOpts {
        ExecOpts::in_workspace(self.own())
    }

    /// Git on the host, as the owner.
    pub(crate) fn git(&self, dir: &Path, args: &[&str]) -> Result<String> {
        git_outside(dir, self.user, args)
    }

    /// Runs the probe in the workspace.
    pub(crate) async fn probe(&self, ctx: &Ctx, args: &[&str]) -> Result<ExecResult> {
        ctx.run(&Cmd::new(self.own().join("exec-probe")).args(args), &self.opts()).await
    }
}
