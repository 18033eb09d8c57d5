//! Types of values: how each is read from documents, variables and the command line, shown, and described to editors.

use std::ffi::OsStr;
use std::fmt::Debug;

use serde_json::Value;

use crate::backend::Backend;
use crate::fault::Fault;
use crate::node::{Data, Node, Position};
use crate::read::Base;

/// How often an option is given on a command line, and whether with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// Once; the value may be left out and is `true` then.
    Switch,
    /// Once, with a value.
    One,
    /// Any number of times, each with a value.
    Many,
}

/// A word that an option accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// What it means.
    pub about: &'static str,
}

impl Word {
    pub(crate) fn new(word: &'static str, about: &'static str) -> Self {
        Self { word, about }
    }
}

/// The type of an option's value.
pub(crate) trait OptionValue: Clone + Debug + Send + Sync + 'static {
    const ARITY: Arity = Arity::One;

    /// Converts a value of a document.
    fn read(node: &Node, base: &Base) -> Result<Self, Fault>;

    /// Converts one word of the command line.
    fn parse(word: &OsStr, base: &Base) -> Result<Self, String> {
        let text = word.to_str().ok_or("this is not UTF-8")?;
        let node = Node { at: Position::START, data: Data::Text(text.to_owned()) };
        Self::read(&node, base).map_err(|fault| fault.message)
    }

    /// The value as written in a document.
    fn show(&self) -> String;

    /// Its JSON Schema.
    fn schema(backends: &[Backend]) -> Value;

    /// All words it accepts, if these are all it accepts.
    fn words(_: &[Backend]) -> Vec<Word> {
        Vec::new()
    }

    /// Adds a value that was given later on the same command line.
    fn append(&mut self, more: Self) {
        *self = more;
    }

    /// The values that lower layers can replace one by one.
    fn parts(&self) -> Vec<Self> {
        vec![self.clone()]
    }
}

/// The spelling of an option in the section of a backend.
pub(crate) struct SectionKey<V> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Only for backends that run images.
    pub(crate) needs_images: bool,
    pub(crate) read: fn(&Node, &Base) -> Result<V, Fault>,
    pub(crate) show: fn(&V) -> String,
    pub(crate) schema: fn(&[Backend]) -> Value,
}

impl<V: OptionValue> SectionKey<V> {
    /// The same value as at the top of a document.
    pub(crate) const fn same(name: &'static str, about: &'static str) -> Self {
        Self { name, about, needs_images: false, read: V::read, show: V::show, schema: V::schema }
    }
}
