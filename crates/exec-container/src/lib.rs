//! Makes cells on a Docker-compatible engine.
//!
//! A cell is a container with our own PID 1, reached through the engine's attach stream: no socket is mounted and
//! no port is open, so a remote engine works the same way. When the orchestrator dies, the engine closes the
//! stream, PID 1 kills everything and exits, and the engine removes the container.
//!
//! This is the only crate that knows the engine API. It does not look for engines: `exec-docker` and its siblings
//! find one and pass it in.

mod archive;
mod attach;
mod body;
mod cache;
mod config;
mod control;
mod dialect;
mod draft;
mod endpoint;
mod engine;
mod executor;
mod fingerprint;
mod greeting;
mod groundwork;
mod image;
mod isolation;
mod keeper;
mod labels;
mod lane;
mod last_resort;
mod leftovers;
mod lifeline;
mod maker;
mod out_of_memory;
mod own;
mod patience;
mod profile;
mod reaper;
mod search;
mod spec;
mod supervisor;
pub mod surroundings;
mod turn;
mod yard;

pub(crate) use attach::Attached;
pub use config::ContainerConfig;
pub use control::{ContainerEngines, FindEngines};
pub use endpoint::{Endpoint, EndpointError};
pub use executor::{Answered, default_runtime, executor};
pub use greeting::{Greeting, Product, Silence, greet};
pub use image::PullPolicy;
pub use lifeline::{Lifeline, Tied};
pub use own::Ulimits;
pub use patience::Patience;
pub use search::{Attempt, Candidate, Failure, Telling, Trouble, bad_address, search};
pub use supervisor::InitPlacement;
pub use surroundings::{Here, Surroundings, System};
