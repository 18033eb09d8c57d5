//! The one error type: what failed, on what, why, and what to do next.

use std::error::Error as StdError;
use std::fmt;

/// A result whose error is ours.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of thing went wrong; stable, for programs to match on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request itself makes no sense; nothing was started.
    InvalidInput,
    /// The program is not there.
    ProgramNotFound,
    /// The program is there but can't be run.
    ProgramNotExecutable,
    /// The sandbox can't be had here.
    Unavailable,
    /// The sandbox can't do what was asked for.
    Unsupported,
    /// The container engine refused, failed or did not answer.
    Engine,
    /// The image is not there and can't be had.
    ImageNotFound,
    /// The isolation that could be had is below the floor that was asked for.
    IsolationTooWeak,
    /// A limit asked for by name could not be enforced.
    LimitNotEnforced,
    /// The system refused.
    PermissionDenied,
    /// The system has no more processes, descriptors, memory or disk to give.
    ResourceExhausted,
    /// The sandbox ended under the command.
    CellDied,
    /// The sandbox said something that makes no sense.
    Protocol,
    /// An emergency stop is in force: nothing new starts until it is lifted.
    Stopped,
    /// The audit log can't be written, and nothing may run without it.
    AuditFailed,
    /// No executor, session or run of that name.
    NotFound,
    /// An operating system call failed.
    Io,
}

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same request will fail again.
    Never,
    /// The same request may succeed later.
    MayHelp,
}

/// A failure of the sandbox or the request; a command that fails is never one.
#[derive(Debug, thiserror::Error)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    operation: &'static str,
    message: String,
    backend: Option<String>,
    context: Vec<(&'static str, String)>,
    remedy: Option<String>,
    retry: Retry,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this kind, in this operation ("start", "make cell", …), with a sentence saying what failed on what.
    pub fn new(kind: ErrorKind, operation: &'static str, message: impl Into<String>) -> Self {
        let retry = match kind {
            ErrorKind::ResourceExhausted | ErrorKind::CellDied => Retry::MayHelp,
            _ => Retry::Never,
        };
        Self(Box::new(Inner {
            kind,
            operation,
            message: message.into(),
            backend: None,
            context: Vec::new(),
            remedy: None,
            retry,
            source: None,
        }))
    }

    /// Which executor it happened on.
    #[must_use]
    pub fn with_backend(mut self, backend: impl Into<String>) -> Self {
        self.0.backend = Some(backend.into());
        self
    }

    /// A fact that helps to understand it.
    #[must_use]
    pub fn with_context(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.0.context.push((key, value.to_string()));
        self
    }

    /// What to do next, as a sentence that begins with a verb.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// The error beneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What sort of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was being done.
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// Which executor it happened on.
    pub fn backend(&self) -> Option<&str> {
        self.0.backend.as_deref()
    }

    /// Facts that help to understand it.
    pub fn context(&self) -> &[(&'static str, String)] {
        &self.0.context
    }

    /// What failed and why, without the executor it happened on: for where that is said anyway.
    pub fn reason(&self) -> String {
        struct Reason<'a>(&'a Inner);
        impl fmt::Display for Reason<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt_reason(f)
            }
        }
        Reason(&self.0).to_string()
    }

    /// What to do next.
    pub fn remedy(&self) -> Option<&str> {
        self.0.remedy.as_deref()
    }

    /// Whether trying again can help.
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// The error beneath.
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(backend) = &self.0.backend {
            write!(f, "{backend}: ")?;
        }
        self.0.fmt_reason(f)
    }
}

impl Inner {
    fn fmt_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (index, (key, value)) in self.context.iter().enumerate() {
            let open = if index == 0 { " (" } else { ", " };
            write!(f, "{open}{key}: {value}")?;
        }
        if !self.context.is_empty() {
            f.write_str(")")?;
        }
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_one_sentence() {
        let error = Error::new(ErrorKind::Io, "start", "can't read the workspace")
            .with_backend("local")
            .with_context("path", "/srv/x")
            .with_source(std::io::Error::other("disk on fire"))
            .with_remedy("put it out");
        assert_eq!(error.to_string(), "local: can't read the workspace (path: /srv/x): disk on fire");
        assert_eq!(error.reason(), "can't read the workspace (path: /srv/x): disk on fire");
        assert_eq!(error.remedy(), Some("put it out"));
    }
}
