//! Rust: crates, workspaces, toolchain files.
//!
//! Precedence: `rust-toolchain.toml`, `rust-toolchain`, `.tool-versions` and mise, `rust-version`.

mod crates;

use std::collections::BTreeSet;

use exec_core::Result;

use super::pin::{self, Pin};
use crate::document;
use crate::known;
use crate::part::{Carried, Language, Layer, Part};
use crate::tree::{Tree, directory, join};
use crate::version::Version;
use crate::wanted::counts;

/// The contents of a toolchain file.
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
    crates::add(&mut part, tree, &manifests, top)?;
    Ok(Some(part))
}

fn toolchain(tree: &Tree, top: &str) -> Result<Option<Toolchain>> {
    let Some(toolchain) = toolchain_file(tree, top)? else { return Ok(None) };
    if word(&toolchain.channel).is_none() {
        return Err(document::broken(
            &toolchain.path,
            &format!("{:?} is not the name of a toolchain", toolchain.channel),
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

/// A safe name: it becomes part of a command.
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
            None => (known::RUST, format!("{says}, which is not a version; this one installs it")),
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

/// Completes the toolchain and selects it whatever `rust-toolchain` says: rustup would otherwise download the named
/// one, because the image's own has its full version as a name.
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
        let targets =
            toolchain.targets.iter().map(|target| format!(" --target {target}")).collect::<Vec<_>>().concat();
        commands.push(format!(
            "rustup toolchain install {channel} --profile minimal --component {}{targets}",
            components.join(",")
        ));
        env.push(("RUSTUP_TOOLCHAIN", channel));
        return Layer { comment, commands, ..Layer::default() };
    }
    comment.push("Components that tests and checks usually need besides the compiler.".to_owned());
    commands.push(format!("rustup component add {}", components.join(" ")));
    if !toolchain.targets.is_empty() {
        commands.push(format!("rustup target add {}", toolchain.targets.join(" ")));
    }
    if !toolchain.path.is_empty() {
        comment.push(format!(
            "Linked under another name, this toolchain serves as the one that {} names,",
            toolchain.path
        ));
        comment.push("instead of downloading it again.".to_owned());
        commands.push("rustup toolchain link project \"$(rustc --print sysroot)\"".to_owned());
        env.push(("RUSTUP_TOOLCHAIN", "project".to_owned()));
    }
    Layer { comment, commands, ..Layer::default() }
}
