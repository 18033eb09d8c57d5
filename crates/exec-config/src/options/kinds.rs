//! Types of values that several options share.

use std::ffi::OsStr;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use exec_core::{ByteSize, Cpus, Limit, parse_duration};
use serde_json::{Value, json};

use super::parse::{self, UNLIMITED};
use super::value::{Arity, OptionValue, Word};
use crate::backend::Backend;
use crate::fault::Fault;
use crate::nearest::nearest;
use crate::node::{Data, Node};
use crate::read::{self, Base, parsed, wrong};

/// The schema of text.
pub(crate) fn pattern(pattern: &str) -> Value {
    json!({"type": "string", "pattern": pattern})
}

const TIME: &str = "^[0-9]+$|^([0-9]+ *[a-z]+ *)+$";
const SIZE: &str = "^[0-9]+(\\.[0-9]+)? *([bB]|[kKmMgGtT]([iI]?[bB])?)?$";

impl OptionValue for bool {
    const ARITY: Arity = Arity::Switch;

    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        match node.data {
            Data::Switch(on) => Ok(on),
            _ => Err(wrong(node, "true or false")),
        }
    }

    fn parse(word: &OsStr, _: &Base) -> Result<Self, String> {
        match word.to_str() {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            _ => Err("write true or false".to_owned()),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"type": "boolean"})
    }
}

impl OptionValue for Limit<ByteSize> {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        parsed(node, "a size, like \"512m\"", parse::limit)
    }

    fn show(&self) -> String {
        show_limit(*self, ByteSize::to_string)
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": UNLIMITED}, pattern(SIZE)]})
    }
}

impl OptionValue for Limit<Cpus> {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        parsed(node, "a number", parse::limit::<Cpus>)
    }

    fn show(&self) -> String {
        show_limit(*self, Cpus::to_string)
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"anyOf": [
            {"type": "number", "minimum": 0.01, "maximum": 8192},
            {"const": UNLIMITED},
            pattern("^[0-9]+(\\.[0-9]+)?$"),
        ]})
    }
}

impl OptionValue for Limit<u32> {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        parsed(node, "a whole number", parse::count)
    }

    fn show(&self) -> String {
        show_limit(*self, u32::to_string)
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": UNLIMITED}, pattern("^[0-9]+$")]})
    }
}

impl OptionValue for Limit<Duration> {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        parsed(node, "a time, like \"5m\"", parse::time)
    }

    fn show(&self) -> String {
        show_limit(*self, Duration::show)
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": UNLIMITED}, pattern(TIME)]})
    }
}

impl OptionValue for Duration {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        parsed(node, "a time, like \"5m\"", parse_duration)
    }

    fn show(&self) -> String {
        humantime::format_duration(*self).to_string()
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"anyOf": [{"type": "integer", "minimum": 1}, pattern(TIME)]})
    }
}

fn show_limit<T>(limit: Limit<T>, show: impl FnOnce(&T) -> String) -> String {
    match limit {
        Limit::Exactly(value) => show(&value),
        Limit::Preset => "the preset's".to_owned(),
        Limit::Unlimited => UNLIMITED.to_owned(),
    }
}

/// Paths in the workspace.
impl OptionValue for Vec<PathBuf> {
    const ARITY: Arity = Arity::Many;

    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        let items = read::items(node, "a list of paths, like [\"target\"]")?;
        items.iter().map(|item| read::text(item, "a path").map(PathBuf::from)).collect()
    }

    fn parse(word: &OsStr, _: &Base) -> Result<Self, String> {
        Ok(vec![word.into()])
    }

    fn show(&self) -> String {
        list(self.iter().map(|path| path.display()))
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"type": "array", "items": {"type": "string"}})
    }

    fn append(&mut self, more: Self) {
        self.extend(more);
    }
}

pub(crate) fn list(items: impl IntoIterator<Item = impl Display>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// A type whose values are words of a fixed set.
pub(crate) trait Words: Copy + PartialEq + 'static {
    /// What to call a value in messages.
    const WHAT: &'static str;
    /// All words, their values and their meanings.
    const ALL: &'static [(&'static str, Self, &'static str)];
}

pub(crate) fn read_word<T: Words>(node: &Node) -> Result<T, Fault> {
    parsed(node, "a word", |text| {
        let known = T::ALL.iter().find(|(word, ..)| *word == text);
        known.map(|(_, value, _)| *value).ok_or_else(|| {
            unknown_word(T::WHAT, text, &T::ALL.iter().map(|(word, ..)| *word).collect::<Vec<_>>())
        })
    })
}

pub(crate) fn show_word<T: Words>(value: T) -> String {
    T::ALL.iter().find(|(_, known, _)| *known == value).map_or("", |(word, ..)| word).to_owned()
}

pub(crate) fn words<T: Words>() -> Vec<Word> {
    T::ALL.iter().map(|(word, _, about)| Word::new(word, about)).collect()
}

/// The schema of these words and nothing else.
pub(crate) fn one_of(words: &[Word]) -> Value {
    let words: Vec<&str> = words.iter().map(|word| word.word).collect();
    json!({"type": "string", "enum": words})
}

pub(crate) fn unknown_word(what: &str, text: &str, words: &[&str]) -> String {
    let near = nearest(text, words.iter().copied());
    let meant = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("`{text}` is not {what}: use one of {}{meant}", words.join(", "))
}
