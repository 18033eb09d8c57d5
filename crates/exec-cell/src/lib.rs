//! Drives a cell: a sandbox with our own PID 1 inside, reached over one byte stream.
//!
//! Everything that is the same for every backend is here, once: starting commands, streaming with flow control,
//! input, signals, stopping, the backstop for time-outs, results, the pool of warm cells, sessions. A backend only
//! knows how to make a cell ([`CellMaker`]) and what that cell guarantees; [`CellExecutor`] turns it into an
//! [`Executor`](exec_core::Executor).
//!
//! [`Backend`] is the other half: it lets an orchestrator find a backend's sandboxes, stop them and clean up after
//! them. This crate makes no cells itself: it knows no namespaces and talks to no engine.

mod admission;
mod backend;
mod cell;
mod closing;
mod executor;
mod limits;
mod maker;
mod plan;
mod pool;
mod probe;
mod reader;
mod request;
mod run;
mod runs;
mod sessions;
mod verdict;
mod writer;

pub use backend::{
    Backend, BuildStep, Engines, ImageStep, ImageStore, Left, Leftovers, Progress, PullStep, Removal, Setup,
    StoredImage,
};
pub use cell::fatal;
pub use executor::{CellExecutor, new_run_id};
pub use limits::{CellLimits, not_held};
pub use maker::{CellIo, CellMaker, Keeper, PostMortem};
pub use pool::PoolConfig;
pub use probe::{FirstCell, first_cell, probe};
