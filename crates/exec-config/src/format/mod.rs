//! The three formats. Each parses a text into the same tree, or reports the position of the error.

mod json;
mod toml;
mod yaml;

use std::path::Path;

use crate::fault::Fault;
use crate::node::Node;

pub(crate) use yaml::scalar;

/// Deeper than any valid document. Deeper nesting is an attempt to exhaust the parser.
const DEEPEST: usize = 16;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// JSON, comments and trailing commas allowed.
    Json,
}

/// The extensions of configuration files and their formats, in the order in which they are looked for.
pub(crate) const EXTENSIONS: [(&str, Format); 5] = [
    ("toml", Format::Toml),
    ("yaml", Format::Yaml),
    ("yml", Format::Yaml),
    ("json", Format::Json),
    ("jsonc", Format::Json),
];

impl Format {
    /// The format that belongs to a file's extension.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        EXTENSIONS.iter().find(|(known, _)| extension == *known).map(|(_, format)| *format)
    }

    /// The usual extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Toml => "toml",
            Self::Yaml => "yaml",
            Self::Json => "jsonc",
        }
    }

    /// Parses a text into a tree, or returns the position where it is invalid.
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
