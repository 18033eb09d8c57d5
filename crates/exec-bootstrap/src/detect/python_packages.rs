//! Python's package managers: which one a project uses, and how its packages get into the one virtual environment.

use std::collections::BTreeSet;

use exec_core::Result;
use toml::{Table, Value};

use super::python::at;
use crate::document;
use crate::known;
use crate::part::{Layer, Part};
use crate::tree::{Tree, directory, file_name, is_below, join};

pub(super) const VENV: &str = "/opt/venv";
const PLACE: &str = "/opt/python-project";
const PIP_CACHE: &str = "/root/.cache/pip";
const UV_CACHE: &str = "/root/.cache/uv";

/// Extras and groups that tests need, by the names they usually have.
const FOR_TESTS: &[&str] = &["dev", "develop", "development", "test", "testing", "tests"];

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
        names.extend(pip(part, tree, place, &project)?);
    }
    Ok(names)
}

/// A package manager in an environment of its own: what it needs does not mix with the project's packages.
fn tool(part: &mut Part, name: &str, version: &str, why: String) {
    let command = format!(
        "python3 -m venv /opt/{name} && /opt/{name}/bin/pip install {name}=={version} && ln -s /opt/{name}/bin/{name} /usr/local/bin/{name}"
    );
    let is_there = part.layers.iter().any(|layer| layer.commands.contains(&command));
    part.because(format!("{name} {version}"), why);
    if !is_there {
        let comment = vec![format!("{name}, in an environment of its own.")];
        part.layers.push(Layer {
            comment,
            caches: vec![PIP_CACHE],
            commands: vec![command],
            ..Layer::default()
        });
    }
}

fn install(
    part: &mut Part,
    place: &str,
    mut comment: Vec<String>,
    files: Vec<String>,
    caches: Vec<&'static str>,
    commands: Vec<String>,
) {
    comment
        .push("Packages only, not the project itself: its path in the sandbox is not known here.".to_owned());
    part.layers.push(Layer {
        comment,
        directory: PLACE.to_owned(),
        place: place.to_owned(),
        files,
        caches,
        commands,
    });
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
    let extras: String = extras(project).iter().map(|name| format!(" --extra {name}")).collect();
    // Inside nothing is to be changed: the environment is read-only, and there is no network.
    part.env.extend([
        ("UV_PROJECT_ENVIRONMENT", VENV.to_owned()),
        ("UV_NO_SYNC", "1".to_owned()),
        ("UV_PYTHON_DOWNLOADS", "never".to_owned()),
    ]);
    part.env.push(("UV_LINK_MODE", "copy".to_owned()));
    let comment = vec![
        "`uv run` uses the environment as it is (UV_NO_SYNC): in the sandbox it is read-only.".to_owned(),
    ];
    install(
        part,
        place,
        comment,
        files,
        vec![UV_CACHE],
        vec![format!("uv sync{frozen} --inexact {only}{extras}")],
    );
}

fn poetry(part: &mut Part, tree: &Tree, place: &str) -> Result<()> {
    let lock = join(place, "poetry.lock");
    // Poetry signs its lock files.
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
    part.env.push(("POETRY_VIRTUALENVS_CREATE", "false".to_owned()));
    let comment = vec!["Poetry installs into the environment that VIRTUAL_ENV names.".to_owned()];
    let command = "poetry install --no-root --no-interaction".to_owned();
    install(part, place, comment, files, vec!["/root/.cache/pypoetry"], vec![command]);
    Ok(())
}

fn pdm(part: &mut Part, tree: &Tree, place: &str) {
    tool(part, "pdm", known::PDM, format!("{} is there", join(place, "pdm.lock")));
    let files = existing(tree, place, &["pyproject.toml", "pdm.lock", "pdm.toml"]);
    let comment = vec!["PDM installs into the environment that VIRTUAL_ENV names.".to_owned()];
    install(part, place, comment, files, vec!["/root/.cache/pdm"], vec!["pdm sync --no-self".to_owned()]);
}

fn pipenv(part: &mut Part, tree: &Tree, place: &str) -> Result<BTreeSet<String>> {
    let path = join(place, "Pipfile");
    tool(part, "pipenv", known::PIPENV, format!("{path} is there"));
    let lock = join(place, "Pipfile.lock");
    let command = if tree.has(&lock) { "pipenv sync --dev" } else { "pipenv install --dev --skip-lock" };
    part.env.push(("PIPENV_VERBOSITY", "-1".to_owned()));
    let comment = vec!["Pipenv installs into the environment that VIRTUAL_ENV names.".to_owned()];
    let files = existing(tree, place, &["Pipfile", "Pipfile.lock"]);
    install(part, place, comment, files, vec!["/root/.cache/pipenv", PIP_CACHE], vec![command.to_owned()]);
    let file = document::toml(tree, &path)?.unwrap_or_default();
    let tables = ["packages", "dev-packages"].iter().filter_map(|name| file.get(*name)?.as_table());
    Ok(tables.flat_map(|table| table.keys().map(|name| normal(name))).collect())
}

fn pip(part: &mut Part, tree: &Tree, place: &str, project: &Table) -> Result<BTreeSet<String>> {
    let (lists, mut files) = requirements(tree, place)?;
    let mut names = BTreeSet::new();
    let mut is_local = false;
    for path in &files {
        for line in tree.text(path)?.unwrap_or_default().lines() {
            is_local |= local(line);
            names.extend(requirement(line));
        }
    }
    if !lists.is_empty() {
        part.because("pip", format!("there is {}", lists.join(", ")));
        let mut commands = Vec::new();
        if is_local {
            let name = |path: &String| {
                path.strip_prefix(place).map_or(path.as_str(), |path| path.trim_start_matches('/')).to_owned()
            };
            let paths: Vec<String> = files.iter().map(name).collect();
            commands.push(format!("sed -i -E '/^(-e|--editable|\\.|file:)/d' {}", paths.join(" ")));
            part.because(
                "no editable installs",
                "the project's own path in the sandbox is not known to the image",
            );
        }
        let options: String = lists
            .iter()
            .map(|path| format!(" -r {}", path.strip_prefix(place).unwrap_or(path).trim_start_matches('/')))
            .collect();
        commands.push(format!("pip install{options}"));
        files.sort();
        install(part, place, Vec::new(), files, vec![PIP_CACHE], commands);
    } else if project.contains_key("project") {
        let path = join(place, "pyproject.toml");
        tool(
            part,
            "uv",
            known::UV,
            format!("{path} has no lock file beside it; uv installs what it names without the sources"),
        );
        let extras: String = extras(project).iter().map(|name| format!(" --extra {name}")).collect();
        let groups =
            at(project, &["dependency-groups"]).and_then(Value::as_table).into_iter().flat_map(Table::keys);
        let groups: String = groups
            .filter(|name| FOR_TESTS.contains(&name.as_str()))
            .map(|name| format!(" --group {name}"))
            .collect();
        let command = format!("uv pip install -r pyproject.toml{extras}{groups}");
        install(part, place, Vec::new(), vec![path], vec![UV_CACHE], vec![command]);
    } else {
        let shown = if place.is_empty() { "the project" } else { place };
        part.warnings.push(format!("the packages of {shown} are not in the image: setup.py and setup.cfg need the sources to name them; list them in requirements.txt"));
    }
    Ok(names)
}

/// The lists to install, and every file they need: includes and constraints too.
fn requirements(tree: &Tree, place: &str) -> Result<(Vec<String>, Vec<String>)> {
    let here = |path: &str| {
        let is_list = file_name(path).ends_with(".txt") && !file_name(path).contains("constraint");
        let kind = file_name(path).trim_end_matches(".txt").replace("requirements", "");
        let kind = kind.trim_matches(['-', '_', '.']);
        let in_folder = directory(path) == join(place, "requirements");
        is_list
            && (directory(path) == place && path.contains("requirements") || in_folder)
            && (kind.is_empty() || FOR_TESTS.contains(&kind) || (in_folder && kind == "base"))
    };
    let lists: Vec<String> = tree.matching(here).into_iter().map(str::to_owned).collect();
    let mut files = lists.clone();
    let mut next = 0;
    while let Some(path) = files.get(next).cloned() {
        next += 1;
        for line in document::text(tree, &path)?.unwrap_or_default().lines() {
            let Some(included) = include(line).map(|name| join(directory(&path), name)) else { continue };
            if tree.has(&included) && !files.contains(&included) {
                files.push(included);
            }
        }
    }
    Ok((lists, files))
}

fn include(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    matches!(words.next()?, "-r" | "--requirement" | "-c" | "--constraint").then(|| words.next()).flatten()
}

/// A line that means files of the project.
fn local(line: &str) -> bool {
    ["-e", "--editable", ".", "file:"].iter().any(|start| line.starts_with(start))
}

/// The name in `Requests[socks] >= 2 ; python_version > "3"`.
fn requirement(line: &str) -> Option<String> {
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).unwrap_or(line.len());
    (line.starts_with(|c: char| c.is_ascii_alphanumeric())).then(|| normal(&line[..end]))
}

/// As PyPI compares names.
fn normal(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

/// What pyproject.toml names itself.
fn declared(project: &Table) -> BTreeSet<String> {
    let listed = at(project, &["project", "dependencies"]).and_then(Value::as_array).into_iter().flatten();
    let mut names: BTreeSet<String> = listed.filter_map(|line| requirement(line.as_str()?)).collect();
    let poetry = at(project, &["tool", "poetry", "dependencies"]).and_then(Value::as_table).into_iter();
    names.extend(poetry.flat_map(|table| table.keys().map(|name| normal(name))));
    names
}

/// Optional dependencies that tests need.
fn extras(project: &Table) -> Vec<String> {
    let table = at(project, &["project", "optional-dependencies"]).and_then(Value::as_table).into_iter();
    table.flat_map(Table::keys).filter(|name| FOR_TESTS.contains(&name.as_str())).cloned().collect()
}
