//! One file per command.

pub(crate) mod config;
pub(crate) mod run;
pub(crate) mod shell;
