//! The cases, one property each, grouped by subject.

mod contract;
mod escape;
mod files;
mod limits;
mod stop;

use crate::Case;

/// Cases of one subject, with the name they share.
pub(crate) type Group = (&'static str, &'static [Case]);

/// Every case, by group.
pub(crate) fn all() -> Vec<Group> {
    [contract::GROUPS, stop::GROUPS, escape::GROUPS, limits::GROUPS, files::GROUPS].concat()
}
