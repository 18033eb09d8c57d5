//! Why something was decided. Every decision has one; `--explain` and the comments of the files show them.

use exec_core::printable;

/// A decision and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What was decided, like `Go 1.22`.
    pub what: String,
    /// Why, like `go.mod says "go 1.22"`.
    pub why: String,
}

impl Reason {
    pub(crate) fn new(what: impl AsRef<str>, why: impl AsRef<str>) -> Self {
        Self { what: one_line(what.as_ref()), why: one_line(why.as_ref()) }
    }
}

/// What a project's files say must neither become an instruction of ours nor reach a terminal as one of theirs.
pub(crate) fn one_line(text: &str) -> String {
    printable::line(text).into_owned()
}
