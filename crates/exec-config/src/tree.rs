//! Documents of other kinds, read as configurations are: every value knows its place, and every mistake is told with it.

pub use crate::fault::{Fault, listed};
pub use crate::nearest::{hint, nearest};
pub use crate::node::{Data, Member, Node, Position};
pub use crate::read::{Base, image, items, mounts, parsed, size, text};
