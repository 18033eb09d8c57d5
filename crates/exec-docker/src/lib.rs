//! Runs commands in containers of a Docker engine: [`DockerExec`].
//!
//! Where the engine is, is found out as Docker's own program does it and a little beyond ([`candidates`]); why there is
//! none is told with a remedy ([`diagnose`]). Both see the host through [`Surroundings`] only. What a container is made
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

mod context;
mod diagnose;
mod discover;
mod executor;
mod facts;
mod surroundings;

pub use diagnose::{Attempt, Failure, diagnose};
pub use discover::{Candidate, Origin, candidates};
pub use exec_container::{
    ContainerConfig, Endpoint, EndpointError, InitPlacement, Patience, Progress, PullPolicy, PullStep,
};
pub use executor::{DockerConfig, DockerExec, detect};
pub use facts::{DockerGroup, Facts};
pub use surroundings::{Here, Surroundings, System};

/// The name Docker is chosen by.
const NAME: &str = "docker";
