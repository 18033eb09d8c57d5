//! Makes cells on a Docker-compatible engine.
//!
//! A cell is a container with our own PID 1, reached through the engine's attach stream: no socket is mounted and
//! no port is open, so a remote engine works the same way. When the orchestrator dies, the engine closes the
//! stream, PID 1 kills everything and exits, and the engine removes the container.
//!
//! This is the only crate that knows the engine API. It does not look for engines: `exec-docker` and its siblings
//! find one and pass it in.

mod bound_service;
mod channel;
mod cleanup;
mod config;
mod control;
mod discovery;
mod engine;
mod executor;
mod host;
mod image;
mod init;
mod lifecycle;
mod maker;
mod spec;

pub use bound_service::{BoundService, Lifeline};
pub(crate) use channel::attach::Attached;
pub use config::ContainerConfig;
pub use control::{ContainerEngines, FindEngines};
pub use discovery::search::{Attempt, Candidate, Failure, Telling, Trouble, bad_address, search};
pub use discovery::surroundings;
pub use discovery::surroundings::{Here, HostEnvironment, System};
pub use engine::endpoint::{Endpoint, EndpointError};
pub use engine::greeting::{Greeting, Product, Silence, greet};
pub use engine::patience::Patience;
pub use executor::{Answered, default_runtime, executor};
pub use host::facts::Ulimits;
pub use image::PullPolicy;
pub use init::InitPlacement;
