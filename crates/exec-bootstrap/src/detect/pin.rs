//! Chooses the version of a toolchain from a project's files, in their order of precedence.
//!
//! Files nearer to the top take precedence; within a directory, the order in which a language lists its files. An
//! exact version must agree with every range. Two sibling projects that need different versions can't share an image.

use exec_core::{Change, Error, ErrorKind, Remedy, Result};

use crate::range::Range;
use crate::tree::{depth, directory, file_name, join};
use crate::version::Version;
use crate::{document, tree::Tree};

/// Where mise's file may be besides the top.
const CENTRAL: &str = ".config/mise/config.toml";

/// An exact version and where it is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pin {
    pub(crate) version: Version,
    /// The file.
    pub(crate) path: String,
    /// The quoted text.
    pub(crate) says: String,
}

/// The directory a file applies to.
fn place(path: &str) -> &str {
    path.strip_suffix(CENTRAL).map_or_else(|| directory(path), |place| place.trim_end_matches('/'))
}

impl Pin {
    pub(crate) fn new(version: Version, path: impl Into<String>, says: impl Into<String>) -> Self {
        Self { version, path: path.into(), says: says.into() }
    }

    pub(crate) fn why(&self) -> String {
        format!("{} says \"{}\"", self.path, self.says)
    }
}

/// A range that the version must be in, and where it is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) range: Range,
    pub(crate) path: String,
    pub(crate) says: String,
}

/// A project's requirements for one toolchain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// In order of precedence, for each directory.
    pub(crate) pins: Vec<Pin>,
    pub(crate) limits: Vec<Limit>,
}

/// The chosen version, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) version: Version,
    pub(crate) why: String,
}

impl Wanted {
    /// Adds a range; one that can't be parsed is ignored.
    pub(crate) fn limit(&mut self, path: &str, name: &str, said: Option<&str>) {
        let Some((said, range)) = said.and_then(|said| Some((said, Range::parse(said)?))) else { return };
        self.limits.push(Limit { range, path: path.to_owned(), says: format!("{name} {said}") });
    }

    /// The pin with the highest precedence, or else the first of `known` that every range accepts.
    pub(crate) fn choose(&self, toolchain: &str, known: &[Version]) -> Result<Choice> {
        match self.pin(toolchain)? {
            Some(pin) => {
                if let Some(limit) = self.limits.iter().find(|limit| !limit.range.accepts(pin.version)) {
                    return Err(conflict(toolchain, &pin.why(), &limit.why()));
                }
                Ok(Choice { version: pin.version, why: pin.why() })
            }
            None => self.known(toolchain, known),
        }
    }

    fn known(&self, toolchain: &str, known: &[Version]) -> Result<Choice> {
        let Some(limit) = self.limits.first() else {
            let why = "no file of the project names a version; this one is widely used".to_owned();
            return known
                .first()
                .map_or_else(|| Err(self.nothing_fits(toolchain)), |&version| Ok(Choice { version, why }));
        };
        // As precise as the known versions, because images are named that way.
        let by_line = known.first().is_some_and(|version| version.minor.is_none());
        let exact = |version: Version| if by_line { version.line() } else { version.series() };
        let named = self.limits.iter().flat_map(|limit| limit.range.named()).map(exact);
        let fits = |version: &Version| self.limits.iter().all(|limit| limit.range.accepts(*version));
        match known.iter().copied().chain(named).find(fits) {
            Some(version) => {
                Ok(Choice { version, why: format!("{}; the first known here that fits", limit.why()) })
            }
            None => Err(self.nothing_fits(toolchain)),
        }
    }

    /// The pin nearest to the top; pins at the same depth must agree.
    fn pin(&self, toolchain: &str) -> Result<Option<&Pin>> {
        let level = |pin: &Pin| depth(&join(place(&pin.path), "x"));
        let Some(nearest) = self.pins.iter().map(level).min() else { return Ok(None) };
        let mut at_the_top = self.pins.iter().filter(|pin| level(pin) == nearest);
        let Some(first) = at_the_top.next() else { return Ok(None) };
        let elsewhere = |pin: &&Pin| place(&pin.path) != place(&first.path);
        match at_the_top.filter(elsewhere).find(|pin| !pin.version.agrees_with(first.version)) {
            Some(other) => Err(conflict(toolchain, &first.why(), &other.why())),
            None => Ok(Some(first)),
        }
    }

    fn nothing_fits(&self, toolchain: &str) -> Error {
        let whys: Vec<String> = self.limits.iter().map(Limit::why).collect();
        let what = format!("no version of {toolchain} known here fits: {}", whys.join(", "));
        Error::new(ErrorKind::InvalidInput, "bootstrap", what).with_remedy(
            Remedy::from(format!("pin the version of {toolchain} in a file of the project"))
                .or(Change::give("base").with_purpose("to name an image")),
        )
    }
}

impl Limit {
    fn why(&self) -> String {
        format!("{} says \"{}\"", self.path, self.says)
    }
}

pub(crate) fn conflict(toolchain: &str, one: &str, other: &str) -> Error {
    let what = format!("the project wants conflicting versions of {toolchain}: {one}, but {other}");
    Error::new(ErrorKind::InvalidInput, "bootstrap", what)
        .with_remedy("make the files agree, or pin one version at the top of the project")
}

/// The pins in asdf's and mise's files for a tool, which may have several names.
pub(crate) fn tool_versions(tree: &Tree, names: &[&str]) -> Result<Vec<Pin>> {
    let mut pins = Vec::new();
    for path in tree.named(".tool-versions").into_iter().filter(|path| crate::wanted::counts(path)) {
        for line in document::text(tree, path)?.unwrap_or_default().lines() {
            let mut words = line.split_whitespace();
            if words.next().is_some_and(|tool| names.contains(&tool)) {
                pins.extend(words.next().and_then(|said| pin(path, said)));
            }
        }
    }
    let is_mise =
        |path: &str| matches!(file_name(path), "mise.toml" | ".mise.toml") || path.ends_with(CENTRAL);
    for path in tree.matching(is_mise) {
        let Some(table) = document::toml(tree, path)? else { continue };
        let Some(tools) = table.get("tools").and_then(toml::Value::as_table) else { continue };
        let said = names.iter().filter_map(|name| tools.get(*name).and_then(spelled));
        pins.extend(said.filter_map(|said| pin(path, &said)));
    }
    Ok(pins)
}

/// mise accepts `"22"`, `["22", "20"]` and `{ version = "22" }`.
fn spelled(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(said) => Some(said.clone()),
        toml::Value::Array(several) => several.first().and_then(spelled),
        toml::Value::Table(table) => table.get("version").and_then(spelled),
        _ => None,
    }
}

pub(crate) fn pin(path: &str, said: &str) -> Option<Pin> {
    // asdf and rbenv put the kind of runtime in front: `temurin-21.0.2`, `ruby-3.3.0`.
    let number = said.find(|c: char| c.is_ascii_digit()).map_or(said, |at| &said[at..]);
    Version::parse(number).map(|version| Pin::new(version, path, said))
}
