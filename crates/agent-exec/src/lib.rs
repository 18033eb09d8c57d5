//! The one crate an orchestrator adds: finds the best sandbox this machine has and runs an agent's commands in it.
//!
//! ```no_run
//! use agent_exec::{Cmd, ExecOpts, Executor};
//!
//! # async fn example() -> agent_exec::Result<()> {
//! let sandbox = agent_exec::auto().await?;
//! let result = sandbox.run(&Cmd::shell("make test"), &ExecOpts::in_workspace("/srv/project")).await?;
//! println!("{} by {}: {}", result.outcome.isolation.level, result.outcome.executor, result.stdout.text());
//! # Ok(())
//! # }
//! ```
//!
//! [`auto`] takes Docker, else Podman, else this machine's own namespaces. What it passed over and why is in
//! [`Sandbox::selection`] and in every result, so that a weaker sandbox than you expected is never a surprise. A [`builder`]
//! asks for more:
//!
//! ```no_run
//! use agent_exec::{ExecOpts, IsolationLevel};
//!
//! # async fn example() -> agent_exec::Result<()> {
//! let sandbox = agent_exec::builder()
//!     .min_isolation(IsolationLevel::Container)
//!     .first_run(ExecOpts::in_workspace("/srv/project"))
//!     .build()
//!     .await?;
//! for other in &sandbox.selection().passed_over {
//!     eprintln!("not {}: {}; to have it, {}", other.name, other.reason, other.remedy);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A sandbox asked for by name is that one or an error with its remedy. Once chosen, a sandbox stays: a run that fails is
//! never repeated on another.
//!
//! The backends built in are cargo features: `docker`, `podman` and `local`, all of them on by default. A [`Backend`] of your own
//! is added with [`Builder::backend`], beside them or instead of them. Everything of `exec-core` is here too.

mod backends;
mod builder;
pub mod control;
mod evidence;
mod finder;
mod probe;
mod sandbox;

pub use backends::{BackendInfo, Backends, backends};
pub use builder::{Builder, builder};
pub use evidence::{Evidence, Found};
pub use exec_cell::{Backend, BuildStep, ImageStep, Progress, PullStep, Setup};
#[doc(no_inline)]
pub use exec_core::*;
#[cfg(feature = "docker")]
pub use exec_docker as docker;
#[cfg(feature = "local")]
pub use exec_local as local;
#[cfg(feature = "podman")]
pub use exec_podman as podman;
pub use finder::{Finder, auto};
pub use sandbox::Sandbox;
