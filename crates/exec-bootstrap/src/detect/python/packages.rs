//! Python's package managers: which one a project uses, and how its packages get into the one virtual environment.

use std::collections::BTreeSet;

use exec_core::Result;
use toml::{Table, Value};

use super::at;
use super::requirements::{self, Lists, normal};
use crate::document;
use crate::known;
use crate::part::{Layer, Part};
use crate::tree::{Tree, is_below, join};

pub(super) const VENV: &str = "/opt/venv";
const PLACE: &str = "/opt/python-project";
const PIP_CACHE: &str = "/root/.cache/pip";
const UV_CACHE: &str = "/root/.cache/uv";

/// The usual names of extras, groups and lists that tests need.
pub(super) const FOR_TESTS: &[&str] = &["dev", "develop", "development", "test", "testing", "tests"];

/// Adds what the project in this directory needs; returns the names of its packages.
pub(super) fn add(part: &mut Part, tree: &Tree, place: &str) -> Result<BTreeSet<String>> {
    let of = |name: &str| join(place, name);
    let project = document::toml(tree, &of("pyproject.toml"))?.unwrap_or_default();
    if part.layers.is_empty() {
        part.layers.push(Layer {
            comment: vec![
                "One virtual environment outside of the project, found through PATH and VIRTUAL_ENV."
                    .to_owned(),
            ],
            commands: vec![format!("python3 -m venv {VENV}")],
            ..Layer::default()
        });
    }
    let mut names = declared(&project);
    for lock in ["uv.lock", "poetry.lock", "pdm.lock"] {
        let lock = document::toml(tree, &of(lock))?.unwrap_or_default();
        let packages = lock.get("package").and_then(Value::as_array).into_iter().flatten();
        names.extend(packages.filter_map(|package| package.get("name")?.as_str().map(normal)));
    }
    document::json(tree, &of("Pipfile.lock"))?;
    let is_poetry = at(&project, &["tool", "poetry"]).is_some();
    if tree.has(&of("uv.lock")) || at(&project, &["tool", "uv"]).is_some() {
        uv(part, tree, place, &project);
    } else if tree.has(&of("poetry.lock")) || is_poetry {
        poetry(part, tree, place)?;
    } else if tree.has(&of("pdm.lock")) {
        pdm(part, tree, place);
    } else if tree.has(&of("Pipfile")) {
        names.extend(pipenv(part, tree, place)?);
    } else {
        let lists = Lists::of(tree, place)?;
        names.extend(lists.names.iter().cloned());
        pip(part, place, &project, lists);
    }
    Ok(names)
}

/// Installs a package manager in its own environment, apart from the project's packages.
fn tool(part: &mut Part, name: &str, version: &str, why: String) {
    // Plain PDM breaks with newer releases of its dependencies; `[locked]` installs those it was released with.
    let extra = if name == "pdm" { "[locked]" } else { "" };
    let commands = vec![
        format!("python3 -m venv /opt/{name}"),
        format!("/opt/{name}/bin/pip install '{name}{extra}=={version}'"),
        format!("ln -s /opt/{name}/bin/{name} /usr/local/bin/{name}"),
    ];
    let is_there = part.layers.iter().any(|layer| layer.commands == commands);
    part.because(format!("{name} {version}"), why);
    if !is_there {
        let comment = vec![format!("{name}, in its own environment.")];
        part.layers.push(Layer { comment, caches: vec![PIP_CACHE], commands, ..Layer::default() });
    }
}

/// A layer that installs packages.
fn install(
    place: &str,
    comment: &str,
    files: Vec<String>,
    cache: &'static str,
    commands: Vec<String>,
) -> Layer {
    let always = "Packages only, not the project itself: its path in the sandbox is not known here.";
    let comment = [comment, always].into_iter().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let (directory, place) = (PLACE.to_owned(), place.to_owned());
    Layer { comment, directory, place, files, caches: vec![cache], commands }
}

/// Repeats an option for each name.
fn each(option: &str, names: impl IntoIterator<Item = String>) -> String {
    let options: Vec<String> = names.into_iter().map(|name| format!(" {option} {name}")).collect();
    options.concat()
}

fn existing(tree: &Tree, place: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| join(place, name)).filter(|path| tree.has(path)).collect()
}

fn uv(part: &mut Part, tree: &Tree, place: &str, project: &Table) {
    let mut files = existing(tree, place, &["pyproject.toml", "uv.lock"]);
    let is_workspace = at(project, &["tool", "uv", "workspace"]).is_some();
    if is_workspace {
        let members = tree.named("pyproject.toml").into_iter().filter(|path| is_below(path, place));
        files.extend(members.map(str::to_owned));
    }
    let lock = join(place, "uv.lock");
    let (why, frozen) = if tree.has(&lock) {
        (format!("{lock} is there"), " --frozen")
    } else {
        ("pyproject.toml has [tool.uv]".to_owned(), "")
    };
    tool(part, "uv", known::UV, why);
    let only = if is_workspace { "--all-packages --no-install-workspace" } else { "--no-install-project" };
    let extras = each("--extra", extras(project));
    // uv must not change anything in the sandbox: the environment is read-only, and the network is off.
    part.set("UV_PROJECT_ENVIRONMENT", VENV);
    part.set("UV_NO_SYNC", "1");
    part.set("UV_PYTHON_DOWNLOADS", "never");
    part.set("UV_LINK_MODE", "copy");
    let comment = "`uv run` uses the environment as it is (UV_NO_SYNC): in the sandbox it is read-only.";
    let command = format!("uv sync{frozen} --inexact {only}{extras}");
    part.layers.push(install(place, comment, files, UV_CACHE, vec![command]));
}

fn poetry(part: &mut Part, tree: &Tree, place: &str) -> Result<()> {
    let lock = join(place, "poetry.lock");
    // Poetry records its version in lock files.
    let first = tree.text(&lock)?.and_then(|text| text.lines().next()).unwrap_or_default();
    let wrote = first.split("by Poetry ").nth(1).and_then(crate::version::Version::parse);
    let (version, why) = match wrote {
        Some(version) => (version.to_string(), format!("{lock} was written by it")),
        None => {
            (known::POETRY.to_owned(), "pyproject.toml has [tool.poetry]; no file names a version".to_owned())
        }
    };
    tool(part, "poetry", &version, why);
    let files = existing(tree, place, &["pyproject.toml", "poetry.lock", "poetry.toml"]);
    part.set("POETRY_VIRTUALENVS_CREATE", "false");
    let comment = "Poetry installs into the environment that VIRTUAL_ENV names.";
    let command = "poetry install --no-root --no-interaction".to_owned();
    part.layers.push(install(place, comment, files, "/root/.cache/pypoetry", vec![command]));
    Ok(())
}

fn pdm(part: &mut Part, tree: &Tree, place: &str) {
    tool(part, "pdm", known::PDM, format!("{} is there", join(place, "pdm.lock")));
    let files = existing(tree, place, &["pyproject.toml", "pdm.lock", "pdm.toml"]);
    let comment = "PDM installs into the environment that VIRTUAL_ENV names.";
    part.layers.push(install(
        place,
        comment,
        files,
        "/root/.cache/pdm",
        vec!["pdm sync --no-self".to_owned()],
    ));
}

fn pipenv(part: &mut Part, tree: &Tree, place: &str) -> Result<BTreeSet<String>> {
    let path = join(place, "Pipfile");
    tool(part, "pipenv", known::PIPENV, format!("{path} is there"));
    let lock = join(place, "Pipfile.lock");
    let command = if tree.has(&lock) { "pipenv sync --dev" } else { "pipenv install --dev --skip-lock" };
    part.set("PIPENV_VERBOSITY", "-1");
    let comment = "Pipenv installs into the environment that VIRTUAL_ENV names.";
    let files = existing(tree, place, &["Pipfile", "Pipfile.lock"]);
    part.layers.push(install(place, comment, files, "/root/.cache/pipenv", vec![command.to_owned()]));
    let file = document::toml(tree, &path)?.unwrap_or_default();
    let tables = ["packages", "dev-packages"].iter().filter_map(|name| file.get(*name)?.as_table());
    Ok(tables.flat_map(|table| table.keys().map(|name| normal(name))).collect())
}

fn pip(part: &mut Part, place: &str, project: &Table, lists: Lists) {
    if !lists.installed.is_empty() {
        part.because("pip", format!("there is {}", lists.installed.join(", ")));
        let here =
            |path: &String| path.strip_prefix(place).unwrap_or(path).trim_start_matches('/').to_owned();
        let mut commands = Vec::new();
        if lists.is_local {
            let paths: Vec<String> = lists.files.iter().map(here).collect();
            commands.push(format!("sed -i -E '/^(-e|--editable|\\.|file:)/d' {}", paths.join(" ")));
            let why = "the project's own path in the sandbox is not known to the image";
            part.because("no editable installs", why);
        }
        commands.push(format!("pip install{}", each("-r", lists.installed.iter().map(here))));
        part.layers.push(install(place, "", lists.files, PIP_CACHE, commands));
    } else if project.contains_key("project") {
        let path = join(place, "pyproject.toml");
        let why = format!("{path} has no lock file beside it; uv installs what it names without the sources");
        tool(part, "uv", known::UV, why);
        let (extras, groups) = (each("--extra", extras(project)), each("--group", groups(project)));
        let command = format!("uv pip install -r pyproject.toml{extras}{groups}");
        part.layers.push(install(place, "", vec![path], UV_CACHE, vec![command]));
    } else {
        let shown = if place.is_empty() { "the project" } else { place };
        part.warnings.push(format!(
            "the packages of {shown} are not in the image: setup.py and setup.cfg need the sources to name them; list them in requirements.txt"
        ));
    }
}

/// The dependencies declared in pyproject.toml.
fn declared(project: &Table) -> BTreeSet<String> {
    let listed = at(project, &["project", "dependencies"]).and_then(Value::as_array).into_iter().flatten();
    let mut names: BTreeSet<String> = listed.filter_map(|line| requirements::name(line.as_str()?)).collect();
    let poetry = at(project, &["tool", "poetry", "dependencies"]).and_then(Value::as_table).into_iter();
    names.extend(poetry.flat_map(|table| table.keys().map(|name| normal(name))));
    names
}

/// Optional dependencies that tests need.
fn extras(project: &Table) -> Vec<String> {
    for_tests(at(project, &["project", "optional-dependencies"]))
}

/// Groups of dependencies that tests need.
fn groups(project: &Table) -> Vec<String> {
    for_tests(at(project, &["dependency-groups"]))
}

fn for_tests(tables: Option<&Value>) -> Vec<String> {
    let names = tables.and_then(Value::as_table).into_iter().flat_map(Table::keys);
    names.filter(|name| FOR_TESTS.contains(&name.as_str())).cloned().collect()
}
