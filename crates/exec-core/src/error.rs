//! The error type: what failed, on what, why, and what to do next.

use std::error::Error as StdError;
use std::fmt;

use crate::Remedy;

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of failure; stable, for programs to match on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is invalid; nothing was started.
    InvalidInput,
    /// The program does not exist.
    ProgramNotFound,
    /// The program exists but can't be run.
    ProgramNotExecutable,
    /// The sandbox is not available here.
    Unavailable,
    /// The sandbox does not support the request.
    Unsupported,
    /// The container engine refused, failed or did not answer.
    Engine,
    /// The image is not present and can't be obtained.
    ImageNotFound,
    /// The available isolation is below the requested floor.
    IsolationTooWeak,
    /// An explicitly requested limit can't be enforced.
    LimitNotEnforced,
    /// The operating system refused.
    PermissionDenied,
    /// The system is out of processes, descriptors, memory or disk space.
    ResourceExhausted,
    /// The sandbox died while the command ran.
    CellDied,
    /// The sandbox broke the protocol.
    Protocol,
    /// An emergency stop is in force; nothing starts until it is lifted.
    Stopped,
    /// The audit log can't be written, and nothing runs without it.
    AuditFailed,
    /// No executor, session or run has that name.
    NotFound,
    /// An operating system call failed.
    Io,
}

/// Whether a retry can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same request will fail again.
    Never,
    /// The same request may succeed later.
    MayHelp,
}

/// A failure of the sandbox or the request, never of the command itself.
///
/// # Examples
///
/// ```
/// use exec_core::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::InvalidInput, "run", "the workspace is not a directory")
///     .with_backend("local")
///     .with_context("workspace", "/srv/file")
///     .with_remedy("name a directory");
/// assert_eq!(error.to_string(), "local: the workspace is not a directory (workspace: /srv/file)");
/// assert_eq!(error.remedy(), Some(&"name a directory".into()));
/// ```
#[derive(Debug, thiserror::Error)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    operation: &'static str,
    message: String,
    backend: Option<String>,
    context: Vec<(&'static str, String)>,
    remedy: Option<Remedy>,
    retry: Retry,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this kind in this operation ("start", "make cell", …). The message is a sentence: what failed, on what.
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

    /// Names the executor that failed.
    #[must_use]
    pub fn with_backend(mut self, backend: impl Into<String>) -> Self {
        self.0.backend = Some(backend.into());
        self
    }

    /// Adds a fact that explains the error.
    #[must_use]
    pub fn with_context(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.0.context.push((key, value.to_string()));
        self
    }

    /// Adds what to do next. A text is a correction of the request and begins with a verb.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// Adds the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed.
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The executor that failed.
    pub fn backend(&self) -> Option<&str> {
        self.0.backend.as_deref()
    }

    /// Facts that explain the error.
    pub fn context(&self) -> &[(&'static str, String)] {
        &self.0.context
    }

    /// What failed and why, without the executor's name, for places that show it anyway.
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
    pub fn remedy(&self) -> Option<&Remedy> {
        self.0.remedy.as_ref()
    }

    /// Whether a retry can help.
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// The underlying error.
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
        assert_eq!(error.remedy(), Some(&Remedy::from("put it out")));
    }
}
