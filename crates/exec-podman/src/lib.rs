//! Runs commands in containers of Podman, as root and as an ordinary user: [`PodmanExec`].
//!
//! Podman needs no daemon, and mostly has none: where no service of it listens, one is started for us alone, which ends when
//! nobody uses it any more ([`candidates`] says where one may listen). Why there is none is told with a remedy
//! ([`diagnose`]). A Docker engine is never talked to, wherever it listens. What a container is made of is the business of
//! `exec-container`.
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

/// A place that was tried in vain.
pub type Attempt = exec_container::Attempt<Origin>;

/// The name Podman is chosen by.
const NAME: &str = "podman";
