//! Python: projects, package managers' files, and the version.
//!
//! Precedence: `.python-version`, `.tool-versions` and mise, `python_full_version` and `python_version` of a Pipfile,
//! then the range in `requires-python` or Poetry's `python`.

mod packages;
mod requirements;

use std::collections::BTreeSet;

use exec_core::Result;
use toml::{Table, Value};

use super::pin::{self, Wanted};
use crate::document;
use crate::known;
use crate::libraries;
use crate::part::{Carried, Language, Part};
use crate::tree::{Tree, directory, is_below, join};
use crate::wanted::counts;

const MANIFESTS: &[&str] = &["pyproject.toml", "requirements.txt", "Pipfile", "setup.py", "setup.cfg"];

pub(super) fn detect(tree: &Tree) -> Result<Option<Part>> {
    let places = places(tree)?;
    if places.is_empty() {
        return Ok(None);
    }
    let choice = wanted(tree)?.choose("Python", known::PYTHON)?;
    let debian = known::debian(choice.version, known::PYTHON_ON_BOOKWORM);
    let mut part = Part::new(Language::Python, format!("python:{}-{debian}", choice.version));
    part.because(format!("Python {}", choice.version), choice.why);
    part.carried = vec![Carried { from: "/usr/local", to: "/opt/python" }];
    part.carried_path = vec!["/opt/python/bin"];
    "wheels on PyPI are built for glibc; elsewhere many packages would be compiled"
        .clone_into(&mut part.debian);
    part.env = vec![("VIRTUAL_ENV", packages::VENV.to_owned())];
    part.path = vec!["/opt/venv/bin"];
    if places.iter().any(|place| tree.has_directory(&join(place, "src"))) {
        part.env.push(("PYTHONPATH", "src".to_owned()));
        part.because(
            "PYTHONPATH=src",
            "the sources are in src/, and the project can't be installed before it is mounted",
        );
    }
    let mut dependencies = BTreeSet::new();
    for place in &places {
        dependencies.extend(packages::add(&mut part, tree, place)?);
    }
    libraries::add(&mut part, &dependencies);
    Ok(Some(part))
}

/// Directories with packages of their own; members of a uv workspace are installed with it.
fn places(tree: &Tree) -> Result<Vec<&str>> {
    let mut places: Vec<&str> = Vec::new();
    let mut whole: Vec<&str> = Vec::new();
    for path in tree.matching(|path| MANIFESTS.contains(&crate::tree::file_name(path)) && counts(path)) {
        let place = directory(path);
        if places.contains(&place) || whole.iter().any(|whole| is_below(place, whole)) {
            continue;
        }
        let project = document::toml(tree, &join(place, "pyproject.toml"))?.unwrap_or_default();
        // The file often configures only a formatter.
        let is_project = path.ends_with("pyproject.toml") && !is_project(&project);
        if is_project && MANIFESTS[1..].iter().all(|name| !tree.has(&join(place, name))) {
            continue;
        }
        if at(&project, &["tool", "uv", "workspace"]).is_some() {
            whole.push(place);
        }
        places.push(place);
    }
    Ok(places)
}

fn is_project(project: &Table) -> bool {
    ["project", "build-system", "dependency-groups"].iter().any(|name| project.contains_key(*name))
        || ["poetry", "pdm", "uv"].iter().any(|tool| at(project, &["tool", tool]).is_some())
}

/// A value in nested tables.
pub(super) fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, name| value.get(*name))
}

fn wanted(tree: &Tree) -> Result<Wanted> {
    let mut wanted = Wanted::default();
    for path in tree.named(".python-version").into_iter().filter(|path| counts(path)) {
        wanted.pins.extend(document::single_word(tree, path)?.and_then(|said| pin::pin(path, said)));
    }
    wanted.pins.extend(pin::tool_versions(tree, &["python"])?);
    for path in tree.named("Pipfile").into_iter().filter(|path| counts(path)) {
        let file = document::toml(tree, path)?.unwrap_or_default();
        let said = ["python_full_version", "python_version"]
            .iter()
            .find_map(|name| at(&file, &["requires", name])?.as_str());
        wanted.pins.extend(said.and_then(|said| pin::pin(path, said)));
    }
    for path in tree.named("pyproject.toml").into_iter().filter(|path| counts(path)) {
        let project = document::toml(tree, path)?.unwrap_or_default();
        let text = |place: &[&str]| at(&project, place).and_then(Value::as_str).map(str::to_owned);
        wanted.limit(path, "requires-python", text(&["project", "requires-python"]).as_deref());
        wanted.limit(path, "python", text(&["tool", "poetry", "dependencies", "python"]).as_deref());
    }
    Ok(wanted)
}
