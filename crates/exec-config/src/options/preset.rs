//! `preset`: the source of limits that are not set.

use exec_core::Preset;

use super::kinds::{Words, one_of, read_word, show_word, words};
use super::prelude::*;

/// The preset for limits that are not set.
pub(crate) struct LimitPreset;

impl RunOption for LimitPreset {
    type Value = Preset;

    const DOCS: Docs = Docs {
        name: "preset",
        flag: "--preset",
        value_name: "NAME",
        heading: Heading::Limits,
        summary: "Take limits that are not set from this preset [default: default]",
        details: "`default` is 2 CPUs, 2g, 1024 processes and 5m; `build` is for compiling, `strict` for untrusted commands.",
        example: "\"default\"",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, preset: Preset) {
        settings.opts.limits.preset = preset;
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed(Preset::Default.show())
    }

    /// `strict` restricts more than the limits that can be set.
    fn is_looser(before: &Settings, after: &Settings, machine: Machine) -> bool {
        let preset = |settings: &Settings| settings.opts.limits.preset;
        let resolved = |settings: &Settings| settings.opts.limits.resolve(machine);
        let (a, b) = (resolved(before), resolved(after));
        (preset(before) == Preset::Strict && preset(after) != Preset::Strict)
            || is_larger(a.file_size, b.file_size)
            || b.run_size > a.run_size
    }
}

impl Words for Preset {
    const WHAT: &'static str = "a preset";
    const ALL: &'static [(&'static str, Self, &'static str)] = &[
        ("default", Self::Default, "2 CPUs, 2 GiB, 1024 processes, 5 minutes"),
        ("build", Self::Build, "All CPUs, three quarters of the memory, 4096 processes, 30 minutes"),
        ("strict", Self::Strict, "2 CPUs, 512 MiB, 32 processes, 30 seconds, /tmp of 50 MiB"),
    ];
}

impl OptionValue for Preset {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        read_word(node)
    }

    fn show(&self) -> String {
        show_word(*self)
    }

    fn schema(backends: &[Backend]) -> Value {
        one_of(&Self::words(backends))
    }

    fn words(_: &[Backend]) -> Vec<Word> {
        words::<Self>()
    }
}
