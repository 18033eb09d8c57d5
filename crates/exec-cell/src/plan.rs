//! Turns a request into a plan and the cell it needs.

use exec_core::{Cmd, ExecOpts, Plan, Prepared, Result};

use crate::maker::CellMaker;

/// Resolves a request, notes what its directories hold, prepares what its cell needs, and specifies that cell.
///
/// This happens for every run, and separately for a cell that is made ahead of its run: the run may come much later,
/// and a repository that has appeared since needs another cell. Their specifications differ then, so the cell made
/// ahead is not used.
pub(crate) async fn plan<M: CellMaker>(maker: &M, cmd: &Cmd, opts: &ExecOpts) -> Result<(Prepared, M::Spec)> {
    let mut plan = Plan::resolve(cmd, opts, std::env::vars_os(), maker.own_places())?;
    // An image may be built next, by programs of the host that must not be a command's.
    plan.note(maker.fences())?;
    maker.adjust(&mut plan).await?;
    let plan = plan.prepare(maker.fences())?;
    let spec = maker.spec(&plan)?;
    Ok((plan, spec))
}
