//! An option as data: one row of the table.

use std::ffi::OsStr;
use std::fmt;

use exec_core::Machine;
use serde_json::{Value, json};

use super::setting::Setting;
use super::value::{Arity, OptionValue, SectionKey, Word};
use super::{RunOption, Unset};
use crate::backend::Backend;
use crate::fault::Fault;
use crate::node::Node;
use crate::read::Base;
use crate::settings::Settings;

/// The group of an option in help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// Which sandbox, and its walls.
    Sandbox,
    /// What is visible and writable.
    Files,
    /// Variables.
    Environment,
    /// How much a run may use.
    Limits,
}

/// Everything that is known about one option of a run.
pub struct Described {
    /// The key in a document.
    pub name: &'static str,
    /// The long flag, with its dashes.
    pub flag: &'static str,
    /// The short flag.
    pub short: Option<char>,
    /// The name of the value in help.
    pub value_name: &'static str,
    /// The group in help.
    pub heading: Heading,
    /// Its purpose in one line, without a full stop.
    pub summary: &'static str,
    /// Further sentences, or nothing.
    pub details: &'static str,
    /// A sensible value, as JSON.
    pub example: &'static str,
    /// How it is given on a command line.
    pub arity: Arity,
    pub(crate) section: Option<Section>,
    pub(crate) reset: fn(&mut Settings),
    pub(crate) unset: fn(&Settings, Machine) -> Unset,
    pub(crate) is_looser: fn(&Settings, &Settings, Machine) -> bool,
    words: fn(&[Backend]) -> Vec<Word>,
    schema: fn(&[Backend]) -> Value,
    read: fn(&Node, &Base) -> Result<Setting, Fault>,
    parse: fn(&OsStr, &Base) -> Result<Setting, String>,
}

/// An option within the section of a single backend.
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) needs_images: bool,
    pub(crate) read: fn(&Node, &Base) -> Result<Setting, Fault>,
    about: &'static str,
    schema: fn(&[Backend]) -> Value,
}

impl Described {
    pub(super) const fn of<O: RunOption>() -> Self {
        let docs = O::DOCS;
        Self {
            name: docs.name,
            flag: docs.flag,
            short: docs.short,
            value_name: docs.value_name,
            heading: docs.heading,
            summary: docs.summary,
            details: docs.details,
            example: docs.example,
            arity: O::Value::ARITY,
            section: match O::SECTION {
                Some(key) => Some(Section::of::<O>(&key)),
                None => None,
            },
            reset: O::reset,
            unset: O::unset,
            is_looser: O::is_looser,
            words: O::Value::words,
            schema: O::Value::schema,
            read: |node, base| O::Value::read(node, base).map(Setting::of::<O>),
            parse: |word, base| O::Value::parse(word, base).map(Setting::of::<O>),
        }
    }

    /// Reads its value from a document.
    ///
    /// # Errors
    ///
    /// Returns the mistake with its position.
    pub fn read(&self, node: &Node, base: &Base) -> Result<Setting, Fault> {
        (self.read)(node, base)
    }

    /// Reads its value from one word of a command line.
    ///
    /// # Errors
    ///
    /// Returns what is wrong and what would be right.
    pub fn parse(&self, word: &OsStr, base: &Base) -> Result<Setting, String> {
        (self.parse)(word, base)
    }

    /// All words it accepts, if these are all it accepts.
    pub fn words(&self, backends: &[Backend]) -> Vec<Word> {
        (self.words)(backends)
    }

    /// The environment variable; options that take lists have none.
    pub fn variable(&self) -> Option<String> {
        let name = self.flag.trim_start_matches('-').replace('-', "_").to_uppercase();
        (self.arity != Arity::Many).then(|| format!("AGENTCTL_{name}"))
    }

    /// Its purpose, in whole sentences.
    pub fn about(&self) -> String {
        match self.details {
            "" => format!("{}.", self.summary),
            details => format!("{}. {details}", self.summary),
        }
    }

    pub(crate) fn schema(&self, backends: &[Backend]) -> Value {
        described((self.schema)(backends), &self.about())
    }
}

impl Section {
    const fn of<O: RunOption>(key: &SectionKey<O::Value>) -> Self {
        Self {
            name: key.name,
            about: key.about,
            needs_images: key.needs_images,
            schema: key.schema,
            read: |node, base| match O::SECTION {
                Some(key) => (key.read)(node, base).map(Setting::of::<O>),
                None => O::Value::read(node, base).map(Setting::of::<O>),
            },
        }
    }

    pub(crate) fn schema(&self, backends: &[Backend]) -> Value {
        described((self.schema)(backends), self.about)
    }
}

fn described(mut schema: Value, about: &str) -> Value {
    schema["description"] = json!(about);
    schema
}

impl fmt::Debug for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Described").field(&self.name).finish()
    }
}
