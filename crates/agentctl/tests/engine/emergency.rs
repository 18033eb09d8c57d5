//! The emergency stop, with everything in containers.

use anyhow::Result;

use crate::ENGINE;
use crate::support::uproar;

/// R14: while eight loops keep starting containers.
pub(crate) async fn while_loops_keep_starting_runs() -> Result<()> {
    uproar::while_eight_loops_keep_starting_runs(&ENGINE.sandbox());
    Ok(())
}

/// R14, F1: in the middle of many owners, some of which are killed.
pub(crate) async fn amid_owners_that_are_killed() -> Result<()> {
    uproar::amid_owners_that_are_killed(&ENGINE.sandbox(), uproar::times(2, 20));
    Ok(())
}
