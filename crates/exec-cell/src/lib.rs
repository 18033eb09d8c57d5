//! Drives a cell: a sandbox with our own PID 1 inside, reached over one byte stream.
//!
//! Everything about running commands that is the same for every backend is here, once: starting, streaming with
//! flow control, input, signals, stopping, time-outs' backstop, results, the pool of warm cells, sessions. A
//! backend only knows how to make a cell ([`CellMaker`]) and what that cell guarantees; [`CellExecutor`] makes
//! an [`Executor`](exec_core::Executor) of it.
//!
//! This crate knows no namespaces, no containers and no engine.

mod admission;
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

pub use executor::{CellExecutor, new_run_id};
pub use limits::{CellLimits, not_held};
pub use maker::{CellIo, CellMaker, Keeper, PostMortem};
pub use pool::PoolConfig;
pub use probe::{FirstCell, first_cell, probe};
