//! Processes a command may leave behind, which are dead when `run` returns.
//!
//! The probe returns only when the process it leaves behind exists, and prints so: that is the control.

use anyhow::{Result, ensure};
use exec_core::{Cmd, ExecResult};

use crate::case::{Case, case};
use crate::{Ctx, check, processes};

pub(super) const CASES: &[Case] = &[
    case!(a_child_that_holds_the_output, "R10 A14"),
    case!(a_daemon, "R10 A14", KillsDescendants),
    case!(a_daemon_of_a_daemon, "R10 A14", KillsDescendants),
    case!(a_child_that_ignores_signals, "R10 A14", KillsDescendants),
    case!(a_shells_background_job, "R10 A14"),
    case!(a_double_setsid, "R10 A14", KillsDescendants),
    case!(a_fork_bomb, "R10 A14", KillsDescendants),
    case!(a_stopped_child, "R10 A14", KillsDescendants),
    case!(zombies_are_reaped, "R50 A18"),
    case!(many_daemons_at_once, "R10 A14 R103", KillsDescendants),
    case!(no_survivors_are_named, "R10", KillsDescendants),
];

async fn leaves(ctx: &Ctx, what: &str) -> Result<ExecResult> {
    let result = ctx.inside(&[what, ctx.marker()]).await?;
    check::printed(&result, "left behind")?;
    processes::ensure_none(ctx.marker())?;
    Ok(result)
}

/// R10, A14: the result does not wait for the process that holds the pipe.
async fn a_child_that_holds_the_output(ctx: Ctx) -> Result<()> {
    leaves(&ctx, "hold-pipe").await.map(drop)
}

/// R10, A14: forked twice, in its own session, without pipes.
async fn a_daemon(ctx: Ctx) -> Result<()> {
    leaves(&ctx, "daemon").await.map(drop)
}

/// R10, A14: the same, started by a daemon.
async fn a_daemon_of_a_daemon(ctx: Ctx) -> Result<()> {
    let script =
        format!("(setsid sh -c './exec-probe daemon {0}' {0}; echo started) ; echo ended", ctx.marker());
    let result = ctx.sh(&script).await?;
    ensure!(result.stdout.text().contains("left behind"), "{}", check::describe(&result));
    processes::ensure_none(ctx.marker())
}

/// R10, A14: `nohup` and more.
async fn a_child_that_ignores_signals(ctx: Ctx) -> Result<()> {
    leaves(&ctx, "nohup").await.map(drop)
}

/// R10, A14: `sleep 999 & exit` comes back at once with the shell's code.
async fn a_shells_background_job(ctx: Ctx) -> Result<()> {
    let script = format!("./exec-probe pause {} & exit 5", ctx.marker());
    check::exited(&ctx.sh(&script).await?, 5)?;
    processes::ensure_none(ctx.marker())
}

/// R10, A14: the line from the acceptance test, verbatim except for the program.
async fn a_double_setsid(ctx: Ctx) -> Result<()> {
    let marker = ctx.marker();
    let script = format!(
        "(setsid setsid ./exec-probe pause {marker} > started &) ; \
         while ! grep -q ready started; do :; done; exit 3"
    );
    check::exited(&ctx.sh(&script).await?, 3)?;
    processes::ensure_none(marker)
}

/// R10, A14: many at once, each in its own session.
async fn a_fork_bomb(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&["fork-bomb", "200", ctx.marker()]).await?;
    check::printed(&result, "made 200")?;
    processes::ensure_none(ctx.marker())
}

/// R10, A14: a stopped process does not act on signals, but is killed.
async fn a_stopped_child(ctx: Ctx) -> Result<()> {
    let script = format!("./exec-probe pause {} & kill -STOP $!; exit 0", ctx.marker());
    check::exited(&ctx.sh(&script).await?, 0)?;
    processes::ensure_none(ctx.marker())
}

/// R50, A18: orphans that end are reaped while the command runs.
async fn zombies_are_reaped(ctx: Ctx) -> Result<()> {
    check::printed(&ctx.inside(&["zombies", "300"]).await?, "left 0")
}

/// R10, A14, R103: even with other runs at work.
async fn many_daemons_at_once(ctx: Ctx) -> Result<()> {
    let runs: Vec<_> = (0..16)
        .map(|_| {
            let ctx = ctx.clone();
            tokio::spawn(async move { ctx.inside(&["daemon", ctx.marker()]).await })
        })
        .collect();
    for run in runs {
        check::printed(&run.await??, "left behind")?;
    }
    processes::ensure_none(ctx.marker())
}

/// R10: the result reports no survivors.
async fn no_survivors_are_named(ctx: Ctx) -> Result<()> {
    let cmd = Cmd::shell(format!("./exec-probe daemon {}", ctx.marker()));
    let result = ctx.run(&cmd, &ctx.opts()).await?;
    ensure!(result.outcome.survivors.is_empty(), "survivors: {:?}", result.outcome.survivors);
    Ok(())
}
