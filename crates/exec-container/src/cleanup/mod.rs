//! Ends and removes containers, volumes and networks when their lifecycle could not.

pub(crate) mod last_resort;
pub(crate) mod leftovers;
pub(crate) mod reaper;
