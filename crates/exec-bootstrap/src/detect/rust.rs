//! Rust: crates, workspaces, toolchain files.
//!
//! Precedence: `rust-toolchain.toml`, `rust-toolchain`, `.tool-versions` and mise, `rust-version`.

use std::collections::BTreeSet;

use exec_core::Result;

use super::pin::{self, Pin};
use crate::known;
use crate::libraries;
use crate::part::{Carried, Language, Layer, Part};
use crate::tree::{Tree, directory, join};
use crate::version::Version;
use crate::wanted::counts;
use crate::{Reason, document};

/// What a toolchain file asks for.
#[derive(Debug, Default)]
struct Toolchain {
    channel: String,
    components: Vec<String>,
    targets: Vec<String>,
    path: String,
}

pub(super) fn detect(tree: &Tree) -> Result<Option<Part>> {
    let manifests = tree.named("Cargo.toml");
    let Some(top) = manifests.iter().find(|path| counts(path)).map(|path| directory(path)) else {
        return Ok(None);
    };
    let toolchain = toolchain(tree, top)?;
    let (version, why) = version(tree, &manifests, toolchain.as_ref())?;
    let debian = known::debian(version, known::RUST_ON_BOOKWORM);
    let mut part = Part::new(Language::Rust, format!("rust:{version}-{debian}"));
    part.because(format!("Rust {version}"), why);
    "crates that build C code find gcc, pkg-config and glibc in this image".clone_into(&mut part.debian);
    part.carried = vec![Carried::as_it_was("/usr/local/cargo"), Carried::as_it_was("/usr/local/rustup")];
    part.carried_env =
        vec![("CARGO_HOME", "/usr/local/cargo".to_owned()), ("RUSTUP_HOME", "/usr/local/rustup".to_owned())];
    part.carried_path = vec!["/usr/local/cargo/bin"];
    part.layers.push(components(toolchain.as_ref(), &mut part.env));
    part.env.push(("CARGO_NET_OFFLINE", "true".to_owned()));
    libraries::add(&mut part, &locked(tree, &join(top, "Cargo.lock"))?);
    for root in roots(tree, &manifests) {
        if is_vendored(tree, root)? {
            part.because(
                "no crates in the image",
                "the project has them itself: .cargo/config.toml names another source",
            );
        } else {
            let layer = fetch(tree, &manifests, root, &mut part.reasons)?;
            part.layers.push(layer);
        }
    }
    Ok(Some(part))
}

fn toolchain(tree: &Tree, top: &str) -> Result<Option<Toolchain>> {
    let Some(toolchain) = toolchain_file(tree, top)? else { return Ok(None) };
    if word(&toolchain.channel).is_none() {
        return Err(document::broken(
            &toolchain.path,
            &format!("{:?} is no name of a toolchain", toolchain.channel),
        ));
    }
    Ok(Some(toolchain))
}

fn toolchain_file(tree: &Tree, top: &str) -> Result<Option<Toolchain>> {
    let names = ["rust-toolchain.toml", "rust-toolchain"];
    let places = if top.is_empty() { vec![""] } else { vec!["", top] };
    for path in places.iter().flat_map(|place| names.map(|name| join(place, name))) {
        let Some(text) = document::text(tree, &path)? else { continue };
        if !text.contains('[') {
            let channel = text.trim().to_owned();
            return Ok(Some(Toolchain { channel, path, ..Toolchain::default() }));
        }
        let table: toml::Table =
            toml::from_str(text).map_err(|error| document::broken(&path, error.to_string().trim_end()))?;
        let Some(said) = table.get("toolchain").and_then(toml::Value::as_table) else { continue };
        let list = |name: &str| {
            let values = said.get(name).and_then(toml::Value::as_array).into_iter().flatten();
            values.filter_map(|value| word(value.as_str()?)).collect()
        };
        let channel = said.get("channel").and_then(toml::Value::as_str).unwrap_or("stable").to_owned();
        return Ok(Some(Toolchain {
            channel,
            components: list("components"),
            targets: list("targets"),
            path,
        }));
    }
    Ok(None)
}

/// A name that is one: it ends up in a command.
fn word(text: &str) -> Option<String> {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)).then(|| text.to_owned())
}

fn version(tree: &Tree, manifests: &[&str], toolchain: Option<&Toolchain>) -> Result<(Version, String)> {
    if let Some(toolchain) = toolchain {
        let says = format!("{} says \"{}\"", toolchain.path, toolchain.channel);
        return Ok(match Version::parse(&toolchain.channel) {
            Some(version) => (version.series(), says),
            None if toolchain.channel == "stable" => {
                (known::RUST, format!("{says}, which changes; this one is widely used"))
            }
            None => (known::RUST, format!("{says}, which is no version; this one is there to install it")),
        });
    }
    if let Some(pin) = pin::tool_versions(tree, &["rust"])?.into_iter().next() {
        return Ok((pin.version.series(), pin.why()));
    }
    let mut newest: Option<Pin> = None;
    for path in manifests.iter().filter(|path| counts(path)) {
        let Some(manifest) = document::toml(tree, path)? else { continue };
        let tables = [
            manifest.get("package"),
            manifest.get("workspace").and_then(|workspace| workspace.get("package")),
        ];
        let said = tables.into_iter().flatten().find_map(|table| table.get("rust-version")?.as_str());
        let Some((said, version)) = said.and_then(|said| Some((said, Version::parse(said)?))) else {
            continue;
        };
        if newest.as_ref().is_none_or(|newest| version > newest.version) {
            newest = Some(Pin::new(version, *path, format!("rust-version = {said}")));
        }
    }
    Ok(match newest {
        Some(pin) => (pin.version.series(), pin.why()),
        None => (known::RUST, "no file of the project names a version; this one is widely used".to_owned()),
    })
}

/// Makes the toolchain complete, and the one that is used whatever `rust-toolchain` says: rustup would want to download
/// what that names, because the image's own goes by its full version.
fn components(toolchain: Option<&Toolchain>, env: &mut Vec<(&'static str, String)>) -> Layer {
    let usual = ["clippy", "rustfmt"].map(str::to_owned);
    let nothing = Toolchain::default();
    let toolchain = toolchain.unwrap_or(&nothing);
    let components: BTreeSet<&String> = usual.iter().chain(&toolchain.components).collect();
    let components = components.into_iter().map(String::as_str).collect::<Vec<_>>();
    let is_channel =
        |channel: &&String| Version::parse(channel).is_none() && !matches!(channel.as_str(), "" | "stable");
    let channel = Some(&toolchain.channel).filter(is_channel).cloned();
    let mut comment = Vec::new();
    let mut commands = Vec::new();
    if let Some(channel) = channel {
        comment.push(format!(
            "{} names a channel; rustup takes it by RUSTUP_TOOLCHAIN and downloads nothing.",
            toolchain.path
        ));
        let targets: String = toolchain.targets.iter().map(|target| format!(" --target {target}")).collect();
        commands.push(format!(
            "rustup toolchain install {channel} --profile minimal --component {}{targets}",
            components.join(",")
        ));
        env.push(("RUSTUP_TOOLCHAIN", channel));
        return Layer { comment, commands, ..Layer::default() };
    }
    comment.push("What tests and checks usually want beside the compiler.".to_owned());
    commands.push(format!("rustup component add {}", components.join(" ")));
    if !toolchain.targets.is_empty() {
        commands.push(format!("rustup target add {}", toolchain.targets.join(" ")));
    }
    if !toolchain.path.is_empty() {
        comment.push(format!(
            "Under a name of our own rustup takes this toolchain for the one that {} names,",
            toolchain.path
        ));
        comment.push("instead of downloading it again.".to_owned());
        commands.push("rustup toolchain link project \"$(rustc --print sysroot)\"".to_owned());
        env.push(("RUSTUP_TOOLCHAIN", "project".to_owned()));
    }
    Layer { comment, commands, ..Layer::default() }
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

/// Whether crates come out of the project itself.
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
            "there is no network in the sandbox; without a Cargo.lock they are the newest".to_owned()
        } else {
            format!("there is no network in the sandbox; {lock} says which")
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
            "read-only CARGO_HOME. Cargo wants every target of a manifest to exist, so that empty ones stand in for them.".to_owned(),
        ],
        directory: "/opt/rust/src".to_owned(),
        files,
        commands,
        ..Layer::default()
    })
}

/// Files that must be there for cargo to accept a manifest.
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
