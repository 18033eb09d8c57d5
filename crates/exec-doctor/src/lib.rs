//! Tests which sandboxes work on this machine, and reports how to fix the rest.
//!
//! [`examine`] creates cells with an executor and looks from both sides: limits, network, ownership of files, git
//! worktrees, and whether stopping a run kills all of it. [`Host`] knows which properties of this machine limit
//! sandboxes. The caller decides which executors exist, and displays the results.
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
