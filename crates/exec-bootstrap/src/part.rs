//! What one language adds to the image: the interface between detection and rendering.

use std::collections::BTreeSet;

use crate::libraries::Library;
use crate::reason::Reason;

/// A language with a toolchain of its own. The order is the preference for the base image: the toolchain that is
/// hardest to copy from another image comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Language {
    Ruby,
    Python,
    Node,
    Rust,
    Go,
    Java,
}

impl Language {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ruby => "Ruby",
            Self::Python => "Python",
            Self::Node => "Node",
            Self::Rust => "Rust",
            Self::Go => "Go",
            Self::Java => "Java",
        }
    }
}

/// What one language adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) language: Language,
    /// The official image with this toolchain.
    pub(crate) image: String,
    /// The parts of that image to copy if another image is the base.
    pub(crate) carried: Vec<Carried>,
    /// Commands that make the copies work there.
    pub(crate) carried_commands: Vec<String>,
    /// Variables that the toolchain needs there, because its own image sets them.
    pub(crate) carried_env: Vec<(&'static str, String)>,
    /// Program directories needed there, because the toolchain's own image has them on the PATH.
    pub(crate) carried_path: Vec<&'static str>,
    /// Why Debian, for this language.
    pub(crate) debian: String,
    /// Variables for builds and runs.
    pub(crate) env: Vec<(&'static str, String)>,
    /// Program directories to search first.
    pub(crate) path: Vec<&'static str>,
    pub(crate) libraries: BTreeSet<Library>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) reasons: Vec<Reason>,
    /// What the image can't do for the project.
    pub(crate) warnings: Vec<String>,
}

impl Part {
    pub(crate) fn new(language: Language, image: String) -> Self {
        Self {
            language,
            image,
            carried: Vec::new(),
            carried_commands: Vec::new(),
            carried_env: Vec::new(),
            carried_path: Vec::new(),
            debian: String::new(),
            env: Vec::new(),
            path: Vec::new(),
            libraries: BTreeSet::new(),
            layers: Vec::new(),
            reasons: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Sets a variable, once.
    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        if !self.env.iter().any(|(set, _)| *set == name) {
            self.env.push((name, value.to_owned()));
        }
    }

    pub(crate) fn because(&mut self, what: impl AsRef<str>, why: impl AsRef<str>) {
        self.reasons.push(Reason::new(what, why));
    }
}

/// Something to copy from another image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

impl Carried {
    /// Copies to the same path, so that absolute paths stay valid.
    pub(crate) fn as_it_was(path: &'static str) -> Self {
        Self { from: path, to: path }
    }
}

/// Files of the project that are needed first, and the commands that use them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layer {
    /// Comment lines for the reader of the file.
    pub(crate) comment: Vec<String>,
    /// Where the commands run; the files have the same layout there as in the project.
    pub(crate) directory: String,
    /// The directory of the project in which the commands run; empty for the top.
    pub(crate) place: String,
    /// Relative to the top of the project.
    pub(crate) files: Vec<String>,
    /// Cache directories that outlive the build and are not in the image.
    pub(crate) caches: Vec<&'static str>,
    pub(crate) commands: Vec<String>,
}
