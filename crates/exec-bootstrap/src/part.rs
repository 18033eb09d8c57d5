//! What one language adds to the image: the common tongue of detection and of what writes the files.

use std::collections::BTreeSet;

use crate::libraries::Library;
use crate::reason::Reason;

/// A language with a toolchain of its own. The order is that of preference for the base image: what is hardest to
/// take along from another image comes first.
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
    /// What of that image makes the toolchain, where another image is the base.
    pub(crate) carried: Vec<Carried>,
    /// What makes them work there.
    pub(crate) carried_commands: Vec<String>,
    /// Variables that the toolchain needs, there because its own image sets them.
    pub(crate) carried_env: Vec<(&'static str, String)>,
    /// Directories of programs, there because the toolchain's own image has them on the path.
    pub(crate) carried_path: Vec<&'static str>,
    /// Why Debian, in the words of this language.
    pub(crate) debian: String,
    /// Variables for builds and runs.
    pub(crate) env: Vec<(&'static str, String)>,
    /// Directories of programs to find first.
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

/// Something to take from another image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

impl Carried {
    /// To where it was: what is found by its path stays true.
    pub(crate) fn as_it_was(path: &'static str) -> Self {
        Self { from: path, to: path }
    }
}

/// Files of the project that are needed first, and what is done with them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layer {
    /// Why it is done so, for the reader of the file: one line each.
    pub(crate) comment: Vec<String>,
    /// Where it happens; the files lie there as they do in the project.
    pub(crate) directory: String,
    /// The directory of the project that the commands run in; the top is the empty path.
    pub(crate) place: String,
    /// From the top of the project.
    pub(crate) files: Vec<String>,
    /// Directories that outlive the build and are not in the image.
    pub(crate) caches: Vec<&'static str>,
    pub(crate) commands: Vec<String>,
}
