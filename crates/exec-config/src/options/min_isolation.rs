//! `min_isolation`: the least isolation to accept.

use exec_core::IsolationLevel;

use super::prelude::*;

/// The floor below which a run is refused.
pub(crate) struct MinIsolation;

impl RunOption for MinIsolation {
    type Value = IsolationLevel;

    const DOCS: Docs = Docs {
        name: "min_isolation",
        flag: "--min-isolation",
        value_name: "LEVEL",
        heading: Heading::Sandbox,
        summary: "Refuse to run with less isolation than this",
        details: "From weak to strong: process-group, subreaper, namespaces, container, vm.",
        example: "\"namespaces\"",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, level: IsolationLevel) {
        settings.opts.min_isolation = Some(level);
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed("-")
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        after.opts.min_isolation < before.opts.min_isolation
    }
}

impl OptionValue for IsolationLevel {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        parsed(node, "an isolation level", str::parse::<Self>)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"type": "string", "enum": ["process-group", "subreaper", "namespaces", "container", "vm"]})
    }
}
