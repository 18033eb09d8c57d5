//! Runs commands in Podman containers, as root or as an ordinary user: [`PodmanExec`].
//!
//! Podman needs no daemon and usually has none. If no service listens ([`candidates`] lists the places), we start one
//! of our own, which ends when it is unused. If that fails too, the error has a remedy ([`diagnose`]). A
//! Docker engine is never used, wherever it listens. `exec-container` creates the containers.
//!
//! ```no_run
//! use exec_core::{Cmd, ExecOpts, Executor};
//! use exec_podman::{PodmanConfig, PodmanExec};
//!
//! # async fn example() -> exec_core::Result<()> {
//! let executor = PodmanExec::new(PodmanConfig::default()).await?;
//! let result = executor.run(&Cmd::shell("make test"), &ExecOpts::in_workspace("/srv/project")).await?;
//! assert!(result.success(), "{}", result.stderr.text());
//! # Ok(())
//! # }
//! ```

mod backend;
mod connection;
mod diagnose;
mod discover;
mod executor;
mod facts;
mod filter;
mod runtime;
mod service;

pub use diagnose::diagnose;
pub use discover::{Origin, candidates};
pub use exec_container::{
    ContainerConfig, Endpoint, EndpointError, Failure, Here, HostEnvironment, InitPlacement, Patience,
    PullPolicy, System,
};
pub use executor::{PodmanConfig, PodmanExec};
pub use facts::Facts;

/// A place where a Podman service may listen.
pub type Candidate = exec_container::Candidate<Origin>;

/// A place that was tried without success.
pub type Attempt = exec_container::Attempt<Origin>;

/// The name Podman is selected by.
const NAME: &str = "podman";
