//! Decides what the image needs from the project's files and the caller's wishes. Pure.

use std::collections::{BTreeMap, BTreeSet};

use exec_core::{Change, Error, ErrorKind, Remedy, Result};

use crate::agents::AgentCli;
use crate::app::App;
use crate::files::File;
use crate::libraries::{BUILD_TOOLS, GIT, Library};
use crate::part::{Language, Part};
use crate::reason::{Reason, one_line};
use crate::tree::Tree;
use crate::{app, detect, files, ignore, render};

/// The caller's wishes, which override the project's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The base image, which must include the toolchain; Alpine is recognized by its name.
    pub base: Option<String>,
    /// The agents' CLIs to include.
    pub agents: BTreeSet<AgentCli>,
    /// Which files to write.
    pub scope: Scope,
    /// The digest of every image by its name, like `sha256:…`; `None` to name images without digests.
    pub digests: Option<BTreeMap<String, String>>,
}

/// Which files to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// The image to develop and test in.
    #[default]
    Image,
    /// That image, the application's own, and scripts that start and stop both.
    Compose,
}

/// The kind of system in an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Debian,
    Alpine,
}

/// The image that the other toolchains are added to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) image: String,
    pub(crate) family: Family,
    /// Whether its user is known to be root.
    pub(crate) is_root: bool,
}

/// What the image needs, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(crate) wishes: Wishes,
    pub(crate) base: Base,
    /// The base's own comes first.
    pub(crate) parts: Vec<Part>,
    pub(crate) libraries: BTreeSet<Library>,
    pub(crate) ignored: Vec<String>,
    /// The application, if requested.
    pub(crate) app: Option<App>,
    reasons: Vec<Reason>,
    warnings: Vec<String>,
}

impl Plan {
    /// Makes all decisions.
    ///
    /// # Errors
    ///
    /// Fails without a project, if a manifest is broken or its versions conflict, and if a wish can't be
    /// fulfilled.
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
        warnings
            .extend(tree.odd().map(|path| {
                format!("{path} is ignored: its path holds more than letters, digits and ._-+@")
            }));
        let app = match wishes.scope {
            Scope::Image => None,
            Scope::Compose => Some(app::of(tree, &parts, &base, !libraries.is_empty())?),
        };
        reasons.extend(wishes.agents.iter().map(AgentCli::reason));
        reasons.extend(app.iter().flat_map(|app| app.reasons.iter().cloned()));
        warnings.extend(app.iter().flat_map(|app| app.warnings.iter().cloned()));
        let warnings = warnings.iter().map(|warning| one_line(warning)).collect();
        let copied = parts.iter().flat_map(|part| &part.layers).flat_map(|layer| &layer.files);
        let ignored = ignore::lines(tree, wishes.scope, copied)?;
        let plan = Self { wishes: wishes.clone(), base, parts, libraries, ignored, app, reasons, warnings };
        plan.require_digests()?;
        Ok(plan)
    }

    /// Every file, the development image's Dockerfile first.
    pub fn files(&self) -> Vec<File> {
        files::of(self)
    }

    /// The Dockerfile of the development image.
    pub fn dockerfile(&self) -> String {
        render::dockerfile(self)
    }

    /// Which files to write.
    pub fn scope(&self) -> Scope {
        self.wishes.scope
    }

    /// Every image in the files, without digests.
    pub fn images(&self) -> BTreeSet<&str> {
        let base = [self.base.image.as_str()];
        let carried = self.parts.iter().skip(1).map(|part| part.image.as_str());
        let agents = (!self.wishes.agents.is_empty()).then(|| AgentCli::node(self.base.family));
        let runtime = self.app.iter().filter_map(|app| app.runtime.as_deref());
        let all = base.into_iter().chain(carried).chain(agents).chain(runtime);
        all.filter(|image| !image.contains('@')).collect()
    }

    /// An image with its digest, if digests are used.
    pub(crate) fn pinned(&self, image: &str) -> String {
        match self.wishes.digests.as_ref().and_then(|digests| digests.get(image)) {
            Some(digest) => format!("{image}@{digest}"),
            None => image.to_owned(),
        }
    }

    fn require_digests(&self) -> Result<()> {
        let Some(digests) = &self.wishes.digests else { return Ok(()) };
        match self.images().into_iter().find(|image| !digests.contains_key(*image)) {
            None => Ok(()),
            Some(image) => Err(Error::new(
                ErrorKind::InvalidInput,
                "bootstrap",
                format!("the files name images by their digests, and none is known of {image}"),
            )
            .with_remedy(
                Remedy::from(Change::give("digest").with_purpose("again"))
                    .after(format!("pull it (`docker pull {image}`)")),
            )),
        }
    }

    /// The `.dockerignore`: what a build need not and must not see.
    pub fn dockerignore(&self) -> String {
        render::dockerignore(self)
    }

    /// Every decision with its reason.
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
        "this directory has no project"
    } else {
        "no file shows the project's language"
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
            format!("{image:?} is not the name of an image"),
        )
        .with_remedy(Change::set("base", "golang:1.22-bookworm").with_purpose("or the like")));
    }
    let (family, name) =
        if image.contains("alpine") { (Family::Alpine, "Alpine") } else { (Family::Debian, "Debian") };
    let why = format!("--base names it; it must have {} itself", first.language.name());
    Ok((Base { image: image.clone(), family, is_root: false }, Reason::new(format!("{name} ({image})"), why)))
}

/// The same toolchain for musl: it must run in an Alpine image.
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
