//! Docker: where an engine may be, and what to do when it is not.
//!
//! [`candidates`] lists the places to try, in order, as Docker's own program would find them and a little beyond.
//! [`diagnose`] turns the failed attempts into one error with a remedy. Neither connects to anything, and both
//! see the host through [`Surroundings`] only.
//!
//! ```no_run
//! use exec_docker::{Attempt, Facts, Failure, Here, candidates, diagnose};
//!
//! # fn main() -> exec_core::Result<()> {
//! let mut attempts = Vec::new();
//! for candidate in candidates(None, &Here)? {
//!     let failure = Failure::TimedOut; // Connect here, and return on success.
//!     attempts.push(Attempt { candidate, failure });
//! }
//! let error = diagnose(attempts, &Facts::look(&Here));
//! assert!(error.remedy().is_some());
//! # Ok(())
//! # }
//! ```

mod context;
mod diagnose;
mod discover;
mod endpoint;
mod facts;
mod surroundings;

pub use diagnose::{Attempt, Failure, diagnose};
pub use discover::{Candidate, Origin, candidates};
pub use endpoint::{Endpoint, EndpointError};
pub use facts::{DockerGroup, Facts};
pub use surroundings::{Here, Surroundings, System};

/// The name Docker is chosen by.
const NAME: &str = "docker";
