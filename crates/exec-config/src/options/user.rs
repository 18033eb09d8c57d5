//! `user`: the user that the command runs as.

use exec_core::User;

use super::kinds::pattern;
use super::parse;
use super::prelude::*;

/// The user that the command runs as.
pub(crate) struct RunAs;

impl RunOption for RunAs {
    type Value = User;

    const DOCS: Docs = Docs {
        name: "user",
        flag: "--user",
        value_name: "UID[:GID]",
        heading: Heading::Sandbox,
        summary: "Run as this user [default: the owner of the workspace]",
        details: "A missing group has the number of the user.",
        example: "\"1000:1000\"",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, user: User) {
        settings.opts.user = user;
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed(User::Auto.show())
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        after.opts.user != before.opts.user
    }
}

impl OptionValue for User {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        parsed(node, "a user", parse::user)
    }

    fn show(&self) -> String {
        match self {
            Self::Auto => "the owner of the workspace".to_owned(),
            Self::Id { uid, gid } => format!("{uid}:{gid}"),
        }
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"anyOf": [{"type": "integer", "minimum": 0}, pattern("^[0-9]+(:[0-9]+)?$")]})
    }
}
