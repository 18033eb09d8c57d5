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
//! [`auto`] takes Docker, else Podman, else this machine's own namespaces. [`Sandbox::selection`] and every result list
//! what was passed over and why, so that a weaker sandbox than expected is never a surprise. A [`builder`] can ask for
//! more:
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
//! A sandbox asked for by name is that one or an error with its remedy. The choice is final: a failed run is never
//! repeated on another sandbox.
//!
//! The built-in backends are cargo features: `docker`, `podman` and `local`, all on by default. [`Builder::backend`]
//! adds your own [`Backend`], beside them or instead of them. All of `exec-core` is re-exported.

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
