//! The search for an engine that answers.

pub(crate) mod search;
pub mod surroundings;
