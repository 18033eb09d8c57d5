//! Why something was decided. Every decision has one; `--explain` and the comments of the files show them.

/// A decision and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What was decided, like `Go 1.22`.
    pub what: String,
    /// Why, like `go.mod says "go 1.22"`.
    pub why: String,
}

impl Reason {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }
}
