//! Goes through the places where an engine may be, and remembers why those did not do that were tried in vain.
//!
//! Which places there are, and what a person can do about a failure, is for those who know the engine.

use std::cmp::Reverse;
use std::fmt::{self, Display};
use std::io;
use std::time::Duration;

use exec_core::{Error, ErrorKind, Remedy, Result};

use crate::{Endpoint, EndpointError, Greeting, Product, Silence, greet};

/// A place to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate<O> {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Why we think so.
    pub origin: O,
}

impl<O: Display> Display for Candidate<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.endpoint, self.origin)
    }
}

impl<O: Display> Candidate<O> {
    /// The place that somebody named; `malformed` is what it is to them that it is no address.
    pub fn named(address: &str, origin: O, product: Product, malformed: ErrorKind) -> Result<Self> {
        match address.parse() {
            Ok(endpoint) => Ok(Self { endpoint, origin }),
            Err(error) => Err(bad_address(&error, &origin, product, malformed)),
        }
    }
}

/// The error for an address that somebody named and that leads nowhere.
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

/// A place that was tried, and what came of it.
#[derive(Debug)]
pub struct Attempt<O> {
    /// The place.
    pub candidate: Candidate<O>,
    /// What came of it.
    pub failure: Failure,
}

/// Why an engine can't be used.
#[derive(Debug)]
pub enum Failure {
    /// There was no connection, or it broke.
    Connect(io::Error),
    /// It did not answer in time.
    TimedOut,
    /// It answered, but not as an engine does.
    NotAnEngine,
    /// An engine of another make answers.
    Another,
}

/// What a failure comes down to, the most telling last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// There is no such socket.
    NothingThere,
    /// Anything else, as the system says it.
    Other,
    /// The socket is there, and nobody behind it.
    NobodyListens,
    /// An engine of another make answers.
    Another,
    /// What answers is no engine.
    NotAnEngine,
    /// It does not answer in time.
    Silent,
    /// This user may not connect.
    Forbidden,
}

impl Trouble {
    /// What this attempt comes down to.
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

/// Takes the first place where an engine of this make answers; else all that were tried.
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
                tracing::debug!(%candidate, answer, "what answers is no engine");
                Failure::NotAnEngine
            }
        };
        attempts.push(Attempt { candidate, failure });
    }
    Err(attempts)
}

/// The attempt that tells most about why there is no engine.
#[derive(Debug)]
pub struct Telling<O> {
    /// What it comes down to.
    pub trouble: Trouble,
    /// The attempt.
    pub attempt: Attempt<O>,
    /// Where else there was none.
    others: Vec<Endpoint>,
}

impl<O: Display> Telling<O> {
    /// Of these; none where nothing was tried.
    pub fn of(mut attempts: Vec<Attempt<O>>) -> Option<Self> {
        // Stable, so that of equals the one that was tried first is told.
        attempts.sort_by_key(|attempt| Reverse(Trouble::of(attempt)));
        let mut attempts = attempts.into_iter();
        let attempt = attempts.next()?;
        let others = attempts.map(|other| other.candidate.endpoint).collect();
        Some(Self { trouble: Trouble::of(&attempt), attempt, others })
    }

    /// Adds to an error where this was, and what the system said.
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
