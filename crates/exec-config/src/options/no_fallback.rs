//! `no_fallback`: the first choice or nothing.

use super::prelude::*;

/// Whether `auto` is limited to its first choice.
pub(crate) struct NoFallback;

impl RunOption for NoFallback {
    type Value = bool;

    const DOCS: Docs = Docs {
        name: "no_fallback",
        flag: "--no-fallback",
        value_name: "BOOL",
        heading: Heading::Sandbox,
        summary: "With `auto`: refuse the run instead of falling back from the first choice",
        example: "false",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, on: bool) {
        settings.no_fallback = on;
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed("false")
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        before.no_fallback && !after.no_fallback
    }
}
