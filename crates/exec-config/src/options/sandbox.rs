//! `executor`: which backend makes the sandbox.

use serde_json::Map;

use super::OPTIONS;
use super::kinds::{one_of, unknown_word};
use super::prelude::*;

const AUTO: &str = "auto";

/// Which backend to use.
pub(crate) struct Sandbox;

/// The requested backend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum SandboxChoice {
    /// The best one available.
    #[default]
    Auto,
    /// The best one available without containers.
    WithoutContainers,
    /// This one.
    Named(&'static str),
}

impl RunOption for Sandbox {
    type Value = SandboxChoice;

    const DOCS: Docs = Docs {
        name: "executor",
        flag: "--sandbox",
        value_name: "NAME",
        heading: Heading::Sandbox,
        summary: "Choose the sandbox [default: auto]",
        details: "`auto` takes the best one that works and warns when a better one is missing: why, and how to get it. One \
                  asked for by name is used or the run is refused. In a file it may be a table: `type` is the name, and \
                  each sandbox has a section for settings of its own.",
        example: "\"auto\"",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, value: SandboxChoice) {
        settings.sandbox = value;
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed(AUTO)
    }

    /// Every other choice is looser: each sandbox has its own settings, which may allow more.
    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        after.sandbox != before.sandbox
    }
}

impl OptionValue for SandboxChoice {
    fn read(node: &Node, base: &Base) -> Result<Self, Fault> {
        parsed(node, "a word", |text| match base.backends.iter().find(|backend| backend.name == text) {
            Some(backend) => Ok(Self::Named(backend.name)),
            None if text == AUTO => Ok(Self::Auto),
            None => {
                let words: Vec<&str> = Self::words(base.backends).iter().map(|word| word.word).collect();
                Err(unknown_word("a sandbox", text, &words))
            }
        })
    }

    fn show(&self) -> String {
        match self {
            Self::Auto => AUTO.to_owned(),
            Self::WithoutContainers => "auto, without containers".to_owned(),
            Self::Named(name) => (*name).to_owned(),
        }
    }

    fn schema(backends: &[Backend]) -> Value {
        let words = one_of(&Self::words(backends));
        let mut properties = Map::from_iter([("type".to_owned(), words.clone())]);
        for backend in backends {
            let keys = OPTIONS.iter().filter_map(|option| option.section.as_ref());
            let keys = keys.filter(|key| backend.has_images || !key.needs_images);
            let section: Map<String, Value> =
                keys.map(|key| (key.name.to_owned(), key.schema(backends))).collect();
            let section = json!({"type": "object", "properties": section, "additionalProperties": false});
            properties.insert(backend.name.to_owned(), section);
        }
        let table = json!({"type": "object", "properties": properties, "additionalProperties": false});
        json!({"anyOf": [words, table]})
    }

    fn words(backends: &[Backend]) -> Vec<Word> {
        let named = backends.iter().map(|backend| Word::new(backend.name, backend.about));
        std::iter::once(Word::new(AUTO, "The best one that works")).chain(named).collect()
    }
}
