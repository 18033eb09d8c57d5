//! Repositories of the host, made by the real git, which also looks at what became of them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use exec_core::{Cmd, ErrorKind, ExecOpts};

use crate::{Ctx, Skip, check};

/// Git needs somebody to blame, and takes it from nobody's home.
const IDENTITY: [&str; 4] = ["-c", "user.name=Case", "-c", "user.email=case@example.org"];

/// Git inside with these arguments.
pub(crate) fn git(args: &[&str]) -> Cmd {
    Cmd::new("git").args(IDENTITY).args(args)
}

/// Runs git inside, where it must succeed, and returns what it printed.
pub(crate) async fn git_inside(ctx: &Ctx, opts: &ExecOpts, args: &[&str]) -> Result<String> {
    let result = ctx.run(&git(args), opts).await?;
    check::exited(&result, 0).with_context(|| format!("git {}", args.join(" ")))?;
    Ok(result.stdout.text().trim_end().to_owned())
}

/// Without git on both sides nothing can be shown.
pub(crate) async fn need_git(ctx: &Ctx) -> Result<()> {
    if let Err(error) = git_outside(ctx.workspace(), &["--version"]) {
        bail!(Skip(format!("the host has no git: {error:#}")));
    }
    match ctx.executor().run(&git(&["--version"]), &ctx.opts()).await {
        Err(error) if error.kind() == ErrorKind::ProgramNotFound => {
            bail!(Skip("there is no git inside".into()))
        }
        result => check::exited(&result?, 0),
    }
}

/// Runs git on the host, with no configuration but the repository's, and returns what it printed.
pub(crate) fn git_outside(dir: &Path, args: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command
        .args(IDENTITY)
        .args(["-c", "safe.directory=*"])
        .args(args)
        .current_dir(dir)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
    let output = command.output().context("can't run git on the host")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {} ended with {}: {said}", args.join(" "), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
