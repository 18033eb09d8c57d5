//! The live view: a model that keys and refreshes change, and a picture of it. Neither knows the terminal's
//! state.

mod columns;
mod draw;
mod model;

pub(crate) use draw::draw;
pub(crate) use model::{Action, Model};
