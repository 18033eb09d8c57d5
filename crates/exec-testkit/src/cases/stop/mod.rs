//! Stop means stop: when a run is over, none of its processes is alive.

mod leftovers;
mod owner;
mod ways;

use super::Group;

pub(super) const GROUPS: &[Group] =
    &[("stop::leftovers", leftovers::CASES), ("stop::ways", ways::CASES), ("stop::owner", owner::CASES)];
