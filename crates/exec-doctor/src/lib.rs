//! Finds out by trying what of a sandbox works on this machine, and what would make the rest work.
//!
//! [`examine`] makes cells with an executor and looks from both sides: limits, network, ownership of files, git worktrees,
//! and whether stop means stop. [`Host`] knows of this machine what stands in a sandbox's way. Whoever calls
//! decides which executors there are, and shows what was found.
//!
//! ```no_run
//! # async fn example(executor: &dyn exec_core::Executor) {
//! use exec_doctor::{Host, Verdict, examine};
//!
//! let host = Host::look();
//! for check in examine(executor, &exec_core::ExecOpts::default(), &host).await {
//!     if let Verdict::Fails { found, fix } = &check.verdict {
//!         eprintln!("{}: {found}; to repair it, {fix}", check.name);
//!     }
//! }
//! # }
//! ```

mod check;
mod host;
mod report;
mod sandbox;

pub use check::{Check, Verdict};
pub use host::Host;
pub use report::{Chosen, Report, Sandbox, State};
pub use sandbox::examine;
