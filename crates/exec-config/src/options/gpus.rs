//! `gpus`: graphics processors.

use exec_core::Gpus;

use super::kinds::pattern;
use super::prelude::*;

/// How many graphics processors the command may use.
pub(crate) struct GpuCount;

impl RunOption for GpuCount {
    type Value = Gpus;

    const DOCS: Docs = Docs {
        name: "gpus",
        flag: "--gpus",
        value_name: "all|N",
        heading: Heading::Sandbox,
        summary: "Give containers this many graphics processors [default: none]",
        example: "\"all\"",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, gpus: Gpus) {
        settings.opts.gpus = Some(gpus);
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed("none")
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        let count = |settings: &Settings| match settings.opts.gpus {
            None => 0,
            Some(Gpus::Count(count)) => count.into(),
            Some(Gpus::All) => u32::MAX,
        };
        count(after) > count(before)
    }
}

impl OptionValue for Gpus {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        parsed(node, "\"all\" or a number", str::parse::<Self>)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 1}, pattern("^[1-9][0-9]*$")]})
    }
}
