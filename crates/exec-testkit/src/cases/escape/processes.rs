//! Other processes: the host's, and the supervisor.

use anyhow::{Result, ensure};

use crate::case::{Case, case};
use crate::outside::Bystander;
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(processes_outside_cannot_be_signalled, "A16", NoSignalsOut),
    case!(processes_outside_cannot_be_seen, "A16", HidesProcesses),
    case!(the_supervisor_survives_signals, "A17", ProtectsSupervisor),
    case!(the_supervisor_cannot_be_traced, "A17", ProtectsSupervisor),
    case!(the_supervisors_memory_is_closed, "A17", ProtectsSupervisor),
];

/// A16: a process of the same user, which can be signalled from outside.
async fn processes_outside_cannot_be_signalled(ctx: Ctx) -> Result<()> {
    let mut bystander = Bystander::start(&ctx.host_probe(), ctx.marker())?;
    let id = bystander.id().to_string();
    ensure!(ctx.outside(&["kill", &id, "0"])? == "ok", "it can't be signalled from outside either");
    check::refused(&ctx.inside(&["kill", &id, "9"]).await?, &["ESRCH", "EPERM"])?;
    ensure!(bystander.is_alive(), "the process outside is dead");
    Ok(())
}

/// A16
async fn processes_outside_cannot_be_seen(ctx: Ctx) -> Result<()> {
    let bystander = Bystander::start(&ctx.host_probe(), ctx.marker())?;
    let path = format!("/proc/{}/status", bystander.id());
    check::refused_inside_only(&ctx, &["read", &path], &["ENOENT"]).await
}

/// A17: the supervisor survives every signal and continues to work.
async fn the_supervisor_survives_signals(ctx: Ctx) -> Result<()> {
    for signal in ["9", "15", "19", "11", "1", "2"] {
        let result = ctx.inside(&["kill-parent", signal]).await?;
        check::exited(&result, 0)?;
        ensure!(result.stdout.text().ends_with("alive\n"), "signal {signal}: {}", check::describe(&result));
    }
    Ok(())
}

/// A17
async fn the_supervisor_cannot_be_traced(ctx: Ctx) -> Result<()> {
    let refusals = ["EPERM", "ESRCH", "EACCES", "ENOSYS"];
    check::refused_inside_only(&ctx, &["syscall", "ptrace-parent"], &refusals).await
}

/// A17: not dumpable, so its memory, descriptors and environment can't be opened.
async fn the_supervisors_memory_is_closed(ctx: Ctx) -> Result<()> {
    for file in ["mem", "environ", "fd/0"] {
        let result = ctx.sh(&format!("./exec-probe read /proc/$PPID/{file}")).await?;
        check::refused(&result, &["EACCES", "EPERM", "ENOENT"])?;
    }
    // The same files of the command's own shell can be opened, so the names are right.
    let control = ctx.sh("./exec-probe read /proc/$$/environ").await?;
    ensure!(control.stdout.text().starts_with("ok"), "{}", check::describe(&control));
    Ok(())
}
