//! The reason of a decision. Every decision has one; `--explain` and comments in the files show them.

use exec_core::printable;

/// A decision and its reason.
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

/// Text from a project's files must neither become an instruction nor control a terminal.
pub(crate) fn one_line(text: &str) -> String {
    printable::line(text).into_owned()
}
