//! Tries the places where an engine may be, and records why each one failed.
//!
//! The backends know which places there are, and which remedy fits a failure.

use std::cmp::Reverse;
use std::fmt::{self, Display};
use std::io;
use std::time::Duration;

use exec_core::{Error, ErrorKind, Remedy, Result};

use crate::{Endpoint, EndpointError, Greeting, Product, Silence, greet};

/// A place to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate<O> {
    /// Its address.
    pub endpoint: Endpoint,
    /// Why an engine may be there.
    pub origin: O,
}

impl<O: Display> Display for Candidate<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.endpoint, self.origin)
    }
}

impl<O: Display> Candidate<O> {
    /// A place that the user named; `malformed` is the kind of error if its address is malformed.
    pub fn named(address: &str, origin: O, product: Product, malformed: ErrorKind) -> Result<Self> {
        match address.parse() {
            Ok(endpoint) => Ok(Self { endpoint, origin }),
            Err(error) => Err(bad_address(&error, &origin, product, malformed)),
        }
    }
}

/// The error for a named address that can't be used.
pub fn bad_address(
    error: &EndpointError,
    origin: &dyn Display,
    product: Product,
    malformed: ErrorKind,
) -> Error {
    let kind = match error {
        EndpointError::Malformed { .. } => malformed,
        EndpointError::Ssh { .. } | EndpointError::Tls { .. } => ErrorKind::Unavailable,
    };
    Error::new(kind, "find engine", error.to_string())
        .with_backend(product.name())
        .with_context("from", origin)
        .with_remedy(Remedy::engine(error.remedy(product)))
}

/// A place that was tried, and how it failed.
#[derive(Debug)]
pub struct Attempt<O> {
    /// The place.
    pub candidate: Candidate<O>,
    /// How it failed.
    pub failure: Failure,
}

/// Why an engine can't be used.
#[derive(Debug)]
pub enum Failure {
    /// The connection failed or broke.
    Connect(io::Error),
    /// It did not answer in time.
    TimedOut,
    /// The answer is not an engine's.
    NotAnEngine,
    /// An engine of another product answered.
    Another,
}

/// The cause of a failure, the most informative last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// The socket does not exist.
    NothingThere,
    /// Any other error of the system.
    Other,
    /// The socket exists, but no process listens on it.
    NobodyListens,
    /// An engine of another product answers.
    Another,
    /// The answer is not an engine's.
    NotAnEngine,
    /// It does not answer in time.
    Silent,
    /// This user may not connect.
    Forbidden,
}

impl Trouble {
    /// The cause of this attempt's failure.
    pub fn of<O>(attempt: &Attempt<O>) -> Self {
        let is_port = matches!(attempt.candidate.endpoint, Endpoint::Tcp { .. });
        let error = match &attempt.failure {
            Failure::TimedOut => return Self::Silent,
            Failure::NotAnEngine => return Self::NotAnEngine,
            Failure::Another => return Self::Another,
            Failure::Connect(error) => error,
        };
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if !is_port => Self::NothingThere,
            io::ErrorKind::PermissionDenied if !is_port => Self::Forbidden,
            io::ErrorKind::ConnectionRefused => Self::NobodyListens,
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::Silent,
            io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                Self::NotAnEngine
            }
            _ => Self::Other,
        }
    }
}

/// Returns the first place where an engine of this product answers, or else all failed attempts.
pub async fn search<O: Display>(
    candidates: Vec<Candidate<O>>,
    wanted: Product,
    limit: Duration,
) -> Result<(Candidate<O>, Greeting), Vec<Attempt<O>>> {
    let mut attempts = Vec::new();
    for candidate in candidates {
        let failure = match greet(&candidate.endpoint, limit).await {
            Ok(greeting) if greeting.product == wanted => {
                tracing::debug!(%candidate, "{} answers", wanted.name());
                return Ok((candidate, greeting));
            }
            Ok(_) => Failure::Another,
            Err(Silence::Connect(error)) => Failure::Connect(error),
            Err(Silence::TimedOut) => Failure::TimedOut,
            Err(Silence::NotAnEngine(answer)) => {
                tracing::debug!(%candidate, answer, "the answer is not from an engine");
                Failure::NotAnEngine
            }
        };
        attempts.push(Attempt { candidate, failure });
    }
    Err(attempts)
}

/// The attempt that best explains why no engine was found.
#[derive(Debug)]
pub struct Telling<O> {
    /// The cause of its failure.
    pub trouble: Trouble,
    /// The attempt.
    pub attempt: Attempt<O>,
    /// The other addresses that were tried.
    others: Vec<Endpoint>,
}

impl<O: Display> Telling<O> {
    /// The most informative attempt; `None` if nothing was tried.
    pub fn of(mut attempts: Vec<Attempt<O>>) -> Option<Self> {
        // A stable sort: among equals, the first attempt is reported.
        attempts.sort_by_key(|attempt| Reverse(Trouble::of(attempt)));
        let mut attempts = attempts.into_iter();
        let attempt = attempts.next()?;
        let others = attempts.map(|other| other.candidate.endpoint).collect();
        Some(Self { trouble: Trouble::of(&attempt), attempt, others })
    }

    /// Adds the address and the system's error to an error.
    pub fn explain(self, error: Error) -> Error {
        let Attempt { candidate, failure } = self.attempt;
        let mut error = error.with_context("at", &candidate.endpoint).with_context("from", &candidate.origin);
        if !self.others.is_empty() {
            let others: Vec<String> = self.others.iter().map(ToString::to_string).collect();
            error = error.with_context("also tried", others.join(" "));
        }
        match (self.trouble, failure) {
            (Trouble::Other, Failure::Connect(source)) => error.with_source(source),
            _ => error,
        }
    }
}
