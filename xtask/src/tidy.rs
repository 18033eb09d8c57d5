//! `cargo xtask tidy`: the project's own rules, which no compiler checks.
//!
//! A rule is a pure function from files to problems; its exceptions are data next to the rule.

mod backend_names;
mod code;
mod crates;
mod exception;
mod file_access;
mod files;
mod flags;
mod project;
mod references;
mod rust;
mod text;

use std::fmt;

use anyhow::{Result, bail};

use crate::cargo;
use files::SourceFile;

/// A broken rule, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    path: String,
    /// Counted from 1; 0 means the whole file.
    line: usize,
    what: String,
}

impl Problem {
    fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }

    fn of(path: &str, what: impl Into<String>) -> Self {
        Self::at(path, 0, what)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// A place where something forbidden elsewhere is allowed, and the reason.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    /// The beginning of a path.
    place: &'static str,
    #[expect(dead_code, reason = "written down for the reader, who may want to add a place")]
    why: &'static str,
}

impl Allowed {
    fn covers(places: &[Self], path: &str) -> bool {
        places.iter().any(|allowed| path.starts_with(allowed.place))
    }
}

/// The rules for one file at a time.
const FILE_RULES: &[fn(&SourceFile) -> Vec<Problem>] = &[
    text::no_trailing_whitespace,
    text::no_markers,
    text::no_home_directories,
    rust::module_has_a_purpose,
    rust::no_unfinished_code,
    rust::unsafe_in_its_places,
    rust::printing_in_its_places,
    rust::file_is_small,
    file_access::files_in_their_places,
    backend_names::backends_in_their_places,
];

/// Checks everything and prints every problem.
pub(crate) fn run() -> Result<()> {
    let root = cargo::root();
    let files = files::load(&root)?;
    let mut problems: Vec<Problem> =
        files.iter().flat_map(|file| FILE_RULES.iter().flat_map(|rule| rule(file))).collect();
    problems.extend(files.iter().flat_map(|file| text::no_own_path(file, &root)));
    problems.extend(project::check(&files));
    problems.extend(references::check(&files));
    problems.extend(file_access::no_idle_exceptions(&files));
    problems.extend(backend_names::no_idle_exceptions(&files));
    problems.extend(flags::check(&files));
    problems.extend(crates::check(&cargo::metadata()?.packages));
    problems.sort();
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => {
            println!("{} files are tidy", files.len());
            Ok(())
        }
        1 => bail!("1 problem"),
        several => bail!("{several} problems"),
    }
}
