//! Times that are not part of a preset: `idle_timeout`, `grace`.

use std::time::Duration;

use exec_core::{DEFAULT_GRACE, Limit};

use super::prelude::*;

/// The longest time without output.
pub(crate) struct IdleTimeout;

impl RunOption for IdleTimeout {
    type Value = Duration;

    const DOCS: Docs = Docs {
        name: "idle_timeout",
        flag: "--idle-timeout",
        value_name: "TIME",
        heading: Heading::Limits,
        summary: "Stop a run after this long without output",
        example: "\"2m\"",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, time: Duration) {
        settings.opts.idle_timeout = Some(time);
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed(Limit::<Duration>::Unlimited.show())
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        is_larger(before.opts.idle_timeout, after.opts.idle_timeout)
    }
}

/// Time between SIGTERM and SIGKILL.
pub(crate) struct Grace;

impl RunOption for Grace {
    type Value = Duration;

    const DOCS: Docs = Docs {
        name: "grace",
        flag: "--grace",
        value_name: "TIME",
        heading: Heading::Limits,
        summary: "Wait this long between SIGTERM and SIGKILL [default: 5s]",
        example: "\"5s\"",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, time: Duration) {
        settings.opts.grace = Some(time);
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed(DEFAULT_GRACE.show())
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        let grace = |settings: &Settings| settings.opts.grace.unwrap_or(DEFAULT_GRACE);
        grace(after) > grace(before)
    }
}
