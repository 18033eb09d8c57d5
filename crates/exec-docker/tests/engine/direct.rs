//! One container for each command, as on an engine of another architecture.

use anyhow::{Context, Result, ensure};
use exec_core::{Claim, Cmd, ErrorKind, ExecOpts, Executor};

use crate::support::{direct, ensure_nothing_is_left, workspace};

/// R4: neither a missing program nor one that nobody may execute, and the engine is as it was.
pub(crate) async fn a_command_that_cannot_start_leaves_nothing() -> Result<()> {
    let dir = workspace(1000)?;
    std::fs::write(dir.path().join("plain"), "")?;
    let executor = direct().await?;
    for (program, kind) in
        [("no-such-program", ErrorKind::ProgramNotFound), ("./plain", ErrorKind::ProgramNotExecutable)]
    {
        let ran = executor.run(&Cmd::new(program), &ExecOpts::in_workspace(dir.path())).await;
        let error = ran.err().context("it ran")?;
        ensure!(error.kind() == kind, "{:?}: {error}", error.kind());
    }
    ensure_nothing_is_left(dir.path()).await
}

/// R4, R70: in an image whose every setting is odd; what the init program would say is the command's own to say.
pub(crate) async fn a_run_in_an_image() -> Result<()> {
    let dir = workspace(1000)?;
    let executor = direct().await?;
    let mut opts = ExecOpts::in_workspace(dir.path());
    opts.image = Some(exec_testkit::odd_image("docker")?.to_owned());
    let said = "[FATAL tini (7)] exec x failed: No such file or directory";
    let result = executor.run(&Cmd::shell(format!("echo '{said}' >&2; pwd; exit 127")), &opts).await?;
    ensure!(result.exit_code() == Some(127), "{:?}", result.outcome);
    ensure!(result.stderr.text() == format!("{said}\n"), "{}", result.stderr.text());
    let workspace = dir.path().canonicalize()?;
    ensure!(result.stdout.text().trim_end() == workspace.to_string_lossy(), "{}", result.stdout.text());
    let isolation = &result.outcome.isolation;
    ensure!(isolation.holds(Claim::NoPrivileges) && !isolation.holds(Claim::ProtectsSupervisor));
    ensure!(isolation.degraded.iter().any(|line| line.contains("engine's word")), "{:?}", isolation.degraded);
    ensure_nothing_is_left(dir.path()).await
}
