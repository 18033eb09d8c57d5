//! Runs commands in containers of a Docker engine: [`DockerExec`].

mod executor;

pub use exec_container::{ContainerConfig, InitPlacement, Progress, PullPolicy, PullStep};
pub use executor::{DockerConfig, DockerExec, detect};
