//! Crates: what cargo needs of a project to fetch them, and where the sandbox finds them.

use std::collections::BTreeSet;

use exec_core::Result;

use super::word;
use crate::libraries;
use crate::part::{Layer, Part};
use crate::tree::{Tree, directory, join};
use crate::wanted::counts;
use crate::{Reason, document};

/// Adds the crates of every workspace, and the libraries they are built against.
pub(super) fn add(part: &mut Part, tree: &Tree, manifests: &[&str], top: &str) -> Result<()> {
    libraries::add(part, &locked(tree, &join(top, "Cargo.lock"))?);
    for root in roots(tree, manifests) {
        if is_vendored(tree, root)? {
            let why = "the project has them itself: .cargo/config.toml names a directory";
            part.because("no crates in the image", why);
        } else {
            let layer = fetch(tree, manifests, root, &mut part.reasons)?;
            part.layers.push(layer);
        }
    }
    Ok(())
}

/// Names of the packages in a lock file.
fn locked(tree: &Tree, path: &str) -> Result<BTreeSet<String>> {
    let lock = document::toml(tree, path)?.unwrap_or_default();
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    Ok(packages.filter_map(|package| package.get("name")?.as_str().map(str::to_owned)).collect())
}

/// Directories with a lock file of their own; without any, the one nearest to the top.
fn roots<'a>(tree: &'a Tree, manifests: &[&'a str]) -> Vec<&'a str> {
    let mut roots: Vec<&str> =
        tree.named("Cargo.lock").into_iter().filter(|path| counts(path)).map(directory).collect();
    if roots.is_empty() {
        roots.extend(manifests.iter().find(|path| counts(path)).map(|path| directory(path)));
    }
    roots
}

/// Whether the crates are vendored in the project.
fn is_vendored(tree: &Tree, root: &str) -> Result<bool> {
    let config = document::toml(tree, &join(root, ".cargo/config.toml"))?.unwrap_or_default();
    let sources =
        config.get("source").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    Ok(sources.into_iter().any(|source| source.get("directory").is_some()))
}

fn fetch(tree: &Tree, manifests: &[&str], root: &str, reasons: &mut Vec<Reason>) -> Result<Layer> {
    let mut files = Vec::new();
    let mut stubs = BTreeSet::new();
    for path in manifests.iter().filter(|path| crate::tree::is_below(path, root)) {
        files.push((*path).to_owned());
        let manifest = document::toml(tree, path)?.unwrap_or_default();
        stubs.extend(targets(&manifest).iter().map(|target| join(directory(path), target)));
    }
    for name in ["Cargo.lock", ".cargo/config.toml"].map(|name| join(root, name)) {
        files.extend(tree.has(&name).then_some(name));
    }
    let lock = join(root, "Cargo.lock");
    let locked = if tree.has(&lock) { " --locked" } else { "" };
    reasons.push(Reason::new(
        "crates in the image",
        if locked.is_empty() {
            "the sandbox has no network; without a Cargo.lock they are the newest".to_owned()
        } else {
            format!("the sandbox has no network; {lock} lists them")
        },
    ));
    let directories: BTreeSet<&str> = stubs.iter().map(|stub| directory(stub)).collect();
    let at = if root.is_empty() { String::new() } else { format!(" --manifest-path {root}/Cargo.toml") };
    let list = |paths: Vec<&str>| paths.join(" ");
    let mut commands = Vec::new();
    if !stubs.is_empty() {
        commands.push(format!("mkdir -p {}", list(directories.into_iter().collect())));
        commands.push(format!("touch {}", list(stubs.iter().map(String::as_str).collect())));
    }
    commands.push(format!("CARGO_NET_OFFLINE=false cargo fetch{locked}{at}"));
    Ok(Layer {
        comment: vec![
            "Crates are part of the image (a cache mount would not be there in the sandbox); cargo reads them from a".to_owned(),
            "read-only CARGO_HOME. Cargo wants every target of a manifest to exist, so empty ones replace them.".to_owned(),
        ],
        directory: "/opt/rust/src".to_owned(),
        files,
        commands,
        ..Layer::default()
    })
}

/// Files that must exist for cargo to accept a manifest.
fn targets(manifest: &toml::Table) -> Vec<String> {
    let Some(package) = manifest.get("package") else { return Vec::new() };
    let mut files = vec!["src/lib.rs".to_owned()];
    for (kind, place) in
        [("bin", "src/bin"), ("example", "examples"), ("test", "tests"), ("bench", "benches")]
    {
        let listed = manifest.get(kind).and_then(toml::Value::as_array).into_iter().flatten();
        let without_path = listed.filter(|target| target.get("path").is_none());
        let names = without_path.filter_map(|target| word(target.get("name")?.as_str()?));
        files.extend(names.map(|name| format!("{place}/{name}.rs")));
    }
    let default_run = package.get("default-run").and_then(|name| word(name.as_str()?));
    files.extend(default_run.map(|name| format!("src/bin/{name}.rs")));
    files
}
