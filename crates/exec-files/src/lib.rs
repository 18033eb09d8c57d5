//! File access of the host side.
//!
//! This crate implements two rules:
//!
//! - [`Dir`] is how our own code reads and writes a directory that a command can write. Everything in there
//!   may be an agent's work: links, pipes, sockets, huge files, entries that change during a lookup.
//!   [`open_named`] is for a file that a user named by its path.
//! - [`OwnPlaces`] is the list of our own files that must stay out of every command's reach: records,
//!   sockets, caches, configuration, the audit log. Workspaces and mounts are checked against it.
//!
//! This crate knows files and users. It knows no sandbox, no engine and no option.

mod dir;
mod named;
mod os;
mod own;
mod tree;
mod user_dirs;

pub use dir::{Dir, Entry, FileKind, Sharing};
pub use named::{open_named, read_named, read_open};
pub use own::{OwnPlace, OwnPlaces};
pub use user_dirs::{AUDIT_FILE_VARIABLE, STATE_DIR_VARIABLE, UserDirs};
