//! Node: packages, workspaces, and the version.
//!
//! Precedence: `.nvmrc`, `.node-version`, `.tool-versions` and mise, `volta` in package.json, `engines`.

mod packages;

use std::collections::BTreeSet;

use exec_core::Result;
use serde_json::Value;

use packages::Manager;

use super::pin::{self, Pin, Wanted};
use crate::document;
use crate::known;
use crate::libraries;
use crate::part::{Carried, Language, Part};
use crate::tree::{Tree, directory, is_below, join};
use crate::version::Version;
use crate::wanted::counts;

/// A directory whose packages are installed together.
#[derive(Debug)]
pub(super) struct Project<'a> {
    pub(super) place: &'a str,
    pub(super) manifest: Value,
    /// The manifests of its workspace members.
    pub(super) members: Vec<&'a str>,
}

pub(super) fn detect(tree: &Tree) -> Result<Option<Part>> {
    let projects = projects(tree)?;
    let Some(first) = projects.first() else { return Ok(None) };
    let choice = wanted(tree)?.choose("Node", known::NODE)?;
    let debian = known::debian(choice.version, known::NODE_ON_BOOKWORM);
    let mut part = Part::new(Language::Node, format!("node:{}-{debian}", choice.version));
    part.because(format!("Node {}", choice.version), choice.why);
    part.carried =
        vec![Carried::as_it_was("/usr/local/bin/node"), Carried::as_it_was("/usr/local/lib/node_modules")];
    part.carried_commands = ["npm", "npx"]
        .map(|name| format!("ln -s ../lib/node_modules/npm/bin/{name}-cli.js /usr/local/bin/{name}"))
        .to_vec();
    let dependencies = dependencies(tree, first)?;
    part.debian = debian_because(&dependencies);
    libraries::add(&mut part, &dependencies);
    let manager = Manager::of(tree, first)?;
    packages::add(&mut part, tree, first, &manager);
    for other in projects.iter().skip(1) {
        part.warnings.push(format!(
            "the packages of {}/ are not in the image, which has room for one /node_modules; run `agentctl run --network bridge -- npm ci` there once",
            other.place
        ));
    }
    Ok(Some(part))
}

/// Directories with packages of their own: the top, or else those with a lock file or without a project above them.
fn projects(tree: &Tree) -> Result<Vec<Project<'_>>> {
    let manifests: Vec<&str> = tree.named("package.json");
    let mut projects: Vec<Project<'_>> = Vec::new();
    for path in manifests.iter().copied().filter(|path| counts(path)) {
        let place = directory(path);
        let above = projects.iter().find(|project| is_below(place, project.place));
        if above.is_some_and(|above| !above.members.is_empty() || !packages::has_lock(tree, place)) {
            continue;
        }
        let manifest = document::json(tree, path)?.unwrap_or_default();
        let has_members =
            manifest.get("workspaces").is_some() || tree.has(&join(place, "pnpm-workspace.yaml"));
        let member = |other: &&str| has_members && directory(other) != place && is_below(other, place);
        let members = manifests.iter().copied().filter(member).collect();
        projects.push(Project { place, manifest, members });
    }
    Ok(projects)
}

fn wanted(tree: &Tree) -> Result<Wanted> {
    let mut wanted = Wanted::default();
    for name in [".nvmrc", ".node-version"] {
        for path in tree.named(name).into_iter().filter(|path| counts(path)) {
            wanted.pins.extend(document::single_word(tree, path)?.map(|said| named(path, said)).transpose()?);
        }
    }
    wanted.pins.extend(pin::tool_versions(tree, &["nodejs", "node"])?);
    for path in tree.named("package.json").into_iter().filter(|path| counts(path)) {
        let manifest = document::json(tree, path)?.unwrap_or_default();
        let volta = manifest.pointer("/volta/node").and_then(Value::as_str);
        wanted.pins.extend(volta.and_then(|said| pin::pin(path, said)));
        wanted.limit(path, "engines.node", manifest.pointer("/engines/node").and_then(Value::as_str));
    }
    Ok(wanted)
}

/// What nvm accepts: a version or a release name.
fn named(path: &str, said: &str) -> Result<Pin> {
    let name = said.trim_start_matches("lts/").to_lowercase();
    let by_name =
        known::NODE_NAMES.iter().find(|(known, _)| *known == name).map(|(_, line)| Version::whole(*line));
    let newest = matches!(name.as_str(), "*" | "node" | "stable" | "latest" | "current" | "lts");
    let version =
        Version::parse(said).or(by_name).or_else(|| known::NODE.first().copied().filter(|_| newest));
    version
        .map(|version| Pin::new(version, path, said))
        .ok_or_else(|| document::broken(path, &format!("{said:?} is not a known version of Node")))
}

/// The dependencies in the manifests, plus all transitive ones if npm's lock file exists.
fn dependencies(tree: &Tree, project: &Project<'_>) -> Result<BTreeSet<String>> {
    let mut names = direct(&project.manifest);
    for path in &project.members {
        names.extend(direct(&document::json(tree, path)?.unwrap_or_default()));
    }
    let lock = document::json(tree, &join(project.place, "package-lock.json"))?.unwrap_or_default();
    let locked = lock.get("packages").and_then(Value::as_object).into_iter().flatten();
    names.extend(
        locked.filter_map(|(path, _)| path.rsplit_once("node_modules/").map(|(_, name)| name.to_owned())),
    );
    Ok(names)
}

fn direct(manifest: &Value) -> BTreeSet<String> {
    let kinds = ["dependencies", "devDependencies", "optionalDependencies"];
    let tables = kinds.iter().filter_map(|kind| manifest.get(kind)?.as_object());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

/// Packages that are compiled, or include compiled code.
const NATIVE: &[&str] = &[
    "argon2",
    "bcrypt",
    "better-sqlite3",
    "canvas",
    "esbuild",
    "node-gyp",
    "node-rdkafka",
    "node-sass",
    "pg-native",
    "re2",
    "sharp",
    "sqlite3",
    "usb",
    "zeromq",
];

fn debian_because(dependencies: &BTreeSet<String>) -> String {
    match dependencies.iter().find(|name| NATIVE.contains(&name.as_str())) {
        Some(name) => format!(
            "{name} is a native module: built ones are for glibc, and this image can build the others"
        ),
        None => "native modules are published for glibc, and this image can build the others".to_owned(),
    }
}
