//! The options of a run, one description each. The reader of documents, variables, the command line, the schema, `init`,
//! `show`, merging and trust all derive from it.
//!
//! A new option is a type that implements [`RunOption`], in a file here, and a line in [`OPTIONS`].

mod best_effort_limits;
mod described;
mod env;
mod gpus;
mod image;
mod kinds;
mod limits;
mod min_isolation;
mod mounts;
mod network;
mod no_fallback;
mod parse;
mod preset;
mod sandbox;
mod setting;
mod times;
mod user;
mod value;
mod workspace;

use exec_core::Machine;

use crate::settings::Settings;

/// Imports for the files of options.
mod prelude {
    pub(super) use exec_core::Machine;
    pub(super) use serde_json::{Value, json};

    pub(super) use super::value::{Arity, OptionValue, SectionKey, Word};
    pub(super) use super::{Docs, Heading, RunOption, Unset, is_larger};
    pub(super) use crate::backend::Backend;
    pub(super) use crate::fault::Fault;
    pub(super) use crate::node::Node;
    pub(super) use crate::read::{Base, parsed};
    pub(super) use crate::settings::Settings;
}

pub use described::{Described, Heading};
pub use env::Variable;
pub(crate) use mounts::Mounts;
pub(crate) use sandbox::{Sandbox, SandboxChoice};
pub use setting::Setting;
pub use value::{Arity, Word};
pub(crate) use value::{OptionValue, SectionKey};
pub(crate) use workspace::{WorkspaceAccess, WorkspaceMode, WritePaths};

/// Every option, in the order in which help, `init` and `show` list them.
pub static OPTIONS: [Described; 22] = [
    Described::of::<Sandbox>(),
    Described::of::<no_fallback::NoFallback>(),
    Described::of::<min_isolation::MinIsolation>(),
    Described::of::<image::Image>(),
    Described::of::<gpus::GpuCount>(),
    Described::of::<network::NetworkMode>(),
    Described::of::<user::RunAs>(),
    Described::of::<WorkspaceMode>(),
    Described::of::<WritePaths>(),
    Described::of::<Mounts>(),
    Described::of::<env::Env>(),
    Described::of::<preset::LimitPreset>(),
    Described::of::<limits::Memory>(),
    Described::of::<limits::CpuTime>(),
    Described::of::<limits::Pids>(),
    Described::of::<limits::OpenFiles>(),
    Described::of::<limits::TmpSize>(),
    Described::of::<limits::Timeout>(),
    Described::of::<times::IdleTimeout>(),
    Described::of::<times::Grace>(),
    Described::of::<limits::MaxOutput>(),
    Described::of::<best_effort_limits::BestEffortLimits>(),
];

/// The option with this key.
pub fn option(name: &str) -> Option<&'static Described> {
    OPTIONS.iter().find(|option| option.name == name)
}

/// Everything that is particular to one option. Implementors hold no data.
pub(crate) trait RunOption: Send + Sync + 'static {
    /// The type of its value: how it is read, shown and described to editors.
    type Value: OptionValue;

    /// Its names and help.
    const DOCS: Docs;

    /// Its spelling in the section of a single backend, if it may be set there.
    const SECTION: Option<SectionKey<Self::Value>> = None;

    /// Stores the value in the merged settings. Layers are applied from the lowest to the highest.
    fn apply(settings: &mut Settings, value: Self::Value);

    /// Discards what lower layers set, once before a layer that sets this option is applied.
    fn reset(_: &mut Settings) {}

    /// What holds if no layer sets the option.
    fn unset(settings: &Settings, machine: Machine) -> Unset;

    /// Whether `after` allows a command anything that `before` prevented. In doubt it does.
    fn is_looser(before: &Settings, after: &Settings, machine: Machine) -> bool;

    /// A setting replaces one of a lower layer with the same slot.
    fn slot(_: &Self::Value) -> String {
        Self::DOCS.name.to_owned()
    }
}

/// Names and help of an option.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Docs {
    /// The key in a document.
    pub(crate) name: &'static str,
    /// The long flag, with its dashes.
    pub(crate) flag: &'static str,
    pub(crate) short: Option<char>,
    /// The name of the value in help.
    pub(crate) value_name: &'static str,
    pub(crate) heading: Heading,
    /// One line.
    pub(crate) summary: &'static str,
    /// Further sentences, or nothing.
    pub(crate) details: &'static str,
    /// A sensible value, as JSON.
    pub(crate) example: &'static str,
}

impl Docs {
    /// The values that most options leave out.
    pub(crate) const EMPTY: Self = Self {
        name: "",
        flag: "",
        short: None,
        value_name: "",
        heading: Heading::Sandbox,
        summary: "",
        details: "",
        example: "",
    };
}

/// The value of an option that is not set, and what it follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unset {
    pub(crate) value: String,
    /// `None` for a fixed default.
    pub(crate) from: Option<String>,
}

impl Unset {
    pub(crate) fn fixed(value: impl Into<String>) -> Self {
        Self { value: value.into(), from: None }
    }
}

/// Whether a limit was raised or lifted. No limit is the largest limit.
pub(crate) fn is_larger<T: PartialOrd>(before: Option<T>, after: Option<T>) -> bool {
    match (before, after) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(before), Some(after)) => after > before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::read::Base;

    /// R66: every example in the table is valid.
    #[test]
    fn every_example_is_read_as_its_own_option() {
        for option in &OPTIONS {
            let node = Format::Json.parse(option.example).unwrap();
            assert_eq!(option.read(&node, &Base::default()).unwrap().name(), option.name);
        }
    }

    #[test]
    fn names_follow_one_rule() {
        for option in OPTIONS.iter().filter(|option| option.name != "executor") {
            let flag = format!("--{}", option.name.replace('_', "-"));
            assert!(option.flag == flag || format!("{}s", option.flag) == flag, "{}", option.name);
            let variable = format!("AGENTCTL_{}", option.name.to_uppercase());
            assert!(option.variable().is_none_or(|known| known == variable), "{}", option.name);
        }
    }

    #[test]
    fn help_fits_a_line() {
        for option in &OPTIONS {
            assert!(option.summary.len() <= 80, "{}: {}", option.name, option.summary.len());
            assert!(!option.summary.ends_with('.'), "{}: the program adds the full stop", option.name);
        }
    }
}
