//! What the image needs, decided from the project's files and the caller's wishes. Pure.

use std::collections::BTreeSet;

use exec_core::{Error, ErrorKind, Result};

use crate::libraries::{BUILD_TOOLS, GIT, Library};
use crate::part::{Language, Part};
use crate::reason::{Reason, one_line};
use crate::tree::Tree;
use crate::{detect, ignore, render};

/// What the caller wants otherwise than the project's files say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The image to begin with, which then has the toolchain; Alpine is told by its name.
    pub base: Option<String>,
}

/// What kind of system an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Debian,
    Alpine,
}

/// The image that the others' toolchains are added to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) image: String,
    pub(crate) family: Family,
    /// Whether its user is root, as far as is known.
    pub(crate) is_root: bool,
}

/// What the image needs, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(crate) wishes: Wishes,
    pub(crate) base: Base,
    /// The base's own first.
    pub(crate) parts: Vec<Part>,
    pub(crate) libraries: BTreeSet<Library>,
    pub(crate) ignored: Vec<String>,
    reasons: Vec<Reason>,
    warnings: Vec<String>,
}

impl Plan {
    /// Decides.
    pub fn of(tree: &Tree, wishes: &Wishes) -> Result<Self> {
        let mut parts = detect::parts(tree)?;
        let Some(first) = parts.first() else { return Err(nothing_found(tree)) };
        let (base, because) = base(first, wishes)?;
        let mut reasons = vec![because];
        if base.family == Family::Alpine {
            for part in &mut parts {
                part.image = on_alpine(&part.image);
            }
        }
        reasons.extend(several(&parts));
        let mut libraries: BTreeSet<Library> =
            parts.iter().flat_map(|part| part.libraries.iter().copied()).collect();
        if wishes.base.is_some() {
            libraries.insert(BUILD_TOOLS);
        } else if parts.iter().all(|part| part.language == Language::Java) {
            libraries.insert(GIT);
        }
        reasons.extend(parts.iter().flat_map(|part| part.reasons.iter().cloned()));
        let mut warnings: Vec<String> = parts.iter().flat_map(|part| part.warnings.iter().cloned()).collect();
        warnings.extend(tree.odd().map(one_line).map(|path| {
            format!("{path} is not looked at: its path holds more than letters, digits and ._-+@")
        }));
        let copied = parts.iter().flat_map(|part| &part.layers).flat_map(|layer| &layer.files);
        let ignored = ignore::lines(tree, copied)?;
        Ok(Self { wishes: wishes.clone(), base, parts, libraries, ignored, reasons, warnings })
    }

    /// The Dockerfile.
    pub fn dockerfile(&self) -> String {
        render::dockerfile(self)
    }

    /// What the engine need not and must not see of the project when it builds.
    pub fn dockerignore(&self) -> String {
        render::dockerignore(self)
    }

    /// Every decision with what it rests on.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// What the image can't do for the project, and what to do about it.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

fn nothing_found(tree: &Tree) -> Error {
    let what = if tree.is_empty() {
        "there is no project here"
    } else {
        "nothing here says what the project is written in"
    };
    Error::new(
        ErrorKind::InvalidInput,
        "bootstrap",
        format!("{what}: no {}", detect::MANIFESTS.join(", no ")),
    )
    .with_remedy("name the directory of a project, or begin one (`go mod init`, `npm init`, `cargo init` …)")
}

fn base(first: &Part, wishes: &Wishes) -> Result<(Base, Reason)> {
    let Some(image) = &wishes.base else {
        let base = Base {
            image: first.image.clone(),
            family: Family::Debian,
            is_root: first.language != Language::Java,
        };
        return Ok((base, Reason::new(format!("Debian ({})", first.image), first.debian.clone())));
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    if !image.starts_with(|c: char| c.is_ascii_alphanumeric()) || !image.chars().all(is_name) {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "bootstrap",
            format!("{image:?} is no name of an image"),
        )
        .with_remedy("give one like --base golang:1.22-bookworm"));
    }
    let (family, name) =
        if image.contains("alpine") { (Family::Alpine, "Alpine") } else { (Family::Debian, "Debian") };
    let why = format!("--base names it; it must have {} itself", first.language.name());
    Ok((Base { image: image.clone(), family, is_root: false }, Reason::new(format!("{name} ({image})"), why)))
}

/// The same toolchain for the other C library: what is taken from an image must run in another one.
fn on_alpine(image: &str) -> String {
    let name = image.trim_end_matches("-bookworm").trim_end_matches("-bullseye");
    format!("{name}-alpine")
}

fn several(parts: &[Part]) -> Option<Reason> {
    let names: Vec<&str> = parts.iter().map(|part| part.language.name()).collect();
    let (first, others) = names.split_first()?;
    (!others.is_empty()).then(|| {
        let what = format!("one image for {}", names.join(", "));
        Reason::new(
            what,
            format!(
                "a command may need any of them; {first} is the hardest to copy, so its image is the base"
            ),
        )
    })
}
