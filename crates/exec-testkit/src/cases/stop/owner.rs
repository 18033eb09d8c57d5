//! A run ends with its orchestrator, and in time even if the orchestrator is frozen.

use std::time::Duration;

use anyhow::Result;
use exec_core::Exception;

use crate::case::{Case, Need, case};
use crate::orchestrator::Orchestrator;
use crate::{Ctx, processes};

pub(super) const CASES: &[Case] = &[
    case!(a_killed_orchestrator_leaves_nothing, "R11 A19 F1", DiesWithOwner),
    case!(killed_again_and_again, "R11 A19 F1", DiesWithOwner),
    case!(a_killed_orchestrator_that_never_read, "R11 A19 F9", DiesWithOwner),
    case!(a_frozen_orchestrator_extends_nothing, "F2", DiesWithOwner; Need::No(Exception::DeadlinesOutside)),
];

const LONG: Duration = Duration::from_secs(3600);

fn daemon_and_pause(ctx: &Ctx) -> String {
    format!("./exec-probe daemon {0}; exec ./exec-probe ignore-signals {0}", ctx.marker())
}

/// R11, A19, F1: the command and its daemon, both alive before.
async fn a_killed_orchestrator_leaves_nothing(ctx: Ctx) -> Result<()> {
    let mut orchestrator = Orchestrator::start(&ctx, &daemon_and_pause(&ctx), LONG)?;
    processes::eventually_count(ctx.marker(), 2).await?;
    orchestrator.kill()?;
    processes::eventually_dead(ctx.marker()).await
}

/// R11, A19, F1: at a random moment: as soon as any process of the run is alive.
async fn killed_again_and_again(ctx: Ctx) -> Result<()> {
    for _ in 0..10 {
        let mut orchestrator = Orchestrator::start(&ctx, &daemon_and_pause(&ctx), LONG)?;
        processes::eventually_alive(ctx.marker()).await?;
        orchestrator.kill()?;
        processes::eventually_dead(ctx.marker()).await?;
    }
    Ok(())
}

/// R11, A19, F9: even when there is always more to read.
async fn a_killed_orchestrator_that_never_read(ctx: Ctx) -> Result<()> {
    let script = format!("exec ./exec-probe flood-forever stdout {}", ctx.marker());
    let mut orchestrator = Orchestrator::start(&ctx, &script, LONG)?;
    processes::eventually_alive(ctx.marker()).await?;
    orchestrator.freeze()?;
    orchestrator.kill()?;
    processes::eventually_dead(ctx.marker()).await
}

/// F2: the cell itself enforces the deadline.
async fn a_frozen_orchestrator_extends_nothing(ctx: Ctx) -> Result<()> {
    let orchestrator = Orchestrator::start(&ctx, &daemon_and_pause(&ctx), Duration::from_secs(3))?;
    processes::eventually_count(ctx.marker(), 2).await?;
    orchestrator.freeze()?;
    processes::eventually_dead(ctx.marker()).await
}
