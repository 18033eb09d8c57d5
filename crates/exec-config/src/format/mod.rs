//! The three formats. Each turns a text into the same tree, or says at which place it can't.

mod json;
mod toml;
mod yaml;

use std::path::Path;

use crate::fault::Fault;
use crate::node::Node;

pub(crate) use yaml::scalar;

/// Deeper than any document of ours; what is deeper was made to exhaust somebody.
const DEEPEST: usize = 16;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// JSON, comments and trailing commas allowed.
    Json,
}

/// The ends of the names of configuration files, and what they stand for; what is looked for first comes first.
pub(crate) const EXTENSIONS: [(&str, Format); 5] = [
    ("toml", Format::Toml),
    ("yaml", Format::Yaml),
    ("yml", Format::Yaml),
    ("json", Format::Json),
    ("jsonc", Format::Json),
];

impl Format {
    /// By the end of a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        EXTENSIONS.iter().find(|(known, _)| extension == *known).map(|(_, format)| *format)
    }

    /// The usual end of a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Toml => "toml",
            Self::Yaml => "yaml",
            Self::Json => "jsonc",
        }
    }

    /// The text as a tree, or the place where it can't be read.
    pub fn parse(self, text: &str) -> Result<Node, Fault> {
        match self {
            Self::Toml => toml::parse(text),
            Self::Yaml => yaml::parse(text),
            Self::Json => json::parse(text),
        }
    }
}

#[cfg(test)]
mod tests;
