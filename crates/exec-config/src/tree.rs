//! Parsing for other kinds of documents, with the same positions and error messages as configuration files.

pub use crate::fault::{Fault, listed};
pub use crate::nearest::{hint, nearest};
pub use crate::node::{Data, Member, Node, Position};
pub use crate::read::{Base, items, parsed, text};
