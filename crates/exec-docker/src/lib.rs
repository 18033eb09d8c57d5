//! Runs commands in containers of a Docker engine: [`DockerExec`].
//!
//! Where the engine is, is found out as Docker's own program does it and a little beyond ([`candidates`]); why there is
//! none is told with a remedy ([`diagnose`]). Both see the host through [`HostEnvironment`] only. What a container is made
//! of is the business of `exec-container`.
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

/// A place that was tried in vain.
pub type Attempt = exec_container::Attempt<Origin>;

/// The name Docker is chosen by.
const NAME: &str = "docker";
