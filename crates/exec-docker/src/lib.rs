//! Runs commands in containers of a Docker engine: [`DockerExec`].
//!
//! Finds the engine the way the `docker` CLI does, with a few more places ([`candidates`]), and reports a remedy if
//! there is none ([`diagnose`]). Both see the host only through [`HostEnvironment`]. `exec-container` creates the
//! containers.
//!
//! ```no_run
//! use exec_core::{Cmd, ExecOpts, Executor};
//! use exec_docker::{DockerConfig, DockerExec};
//!
//! # async fn example() -> exec_core::Result<()> {
//! let executor = DockerExec::new(DockerConfig::default()).await?;
//! let result = executor.run(&Cmd::shell("make test"), &ExecOpts::in_workspace("/srv/project")).await?;
//! assert!(result.success(), "{}", result.stderr.text());
//! # Ok(())
//! # }
//! ```

mod backend;
mod context;
mod diagnose;
mod discover;
mod executor;
mod facts;

pub use diagnose::diagnose;
pub use discover::{Origin, candidates};
pub use exec_container::{
    ContainerConfig, Endpoint, EndpointError, Failure, Here, HostEnvironment, InitPlacement, Patience,
    PullPolicy, System,
};
pub use executor::{DockerConfig, DockerExec};
pub use facts::{DockerGroup, Facts};

/// A place where a Docker engine may be.
pub type Candidate = exec_container::Candidate<Origin>;

/// A place that was tried without success.
pub type Attempt = exec_container::Attempt<Origin>;

/// The name Docker is selected by.
const NAME: &str = "docker";
