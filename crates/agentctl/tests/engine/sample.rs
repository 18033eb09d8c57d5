//! Images made of a single file, with the age, the labels and the names that a test needs.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::private::{Private, digest};

/// Long before the first image of ours existed.
pub(crate) const OLD: &str = "2001-01-01T00:00:00Z";

/// The label of our images.
pub(crate) const OURS: &str = "dev.agentctl.version";

/// An image.
pub(crate) struct Sample<'a> {
    pub(crate) names: &'a [&'a str],
    /// When it was made.
    pub(crate) created: &'a str,
    pub(crate) labels: &'a [&'a str],
}

/// Its layer, in a file of this name.
pub(crate) fn layer(directory: &Path, name: &str) -> Result<()> {
    fs::write(directory.join("sample"), "an image for a test\n")?;
    tar(directory, name, &["sample"])
}

/// What an engine knows about an image besides its layer.
pub(crate) fn config(sample: &Sample<'_>, layer: &str) -> Value {
    let labels = sample.labels.iter().map(|label| ((*label).to_owned(), json!("0.0.0")));
    // Different for every image.
    let own = ("test.sample".to_owned(), json!(sample.names.join(" ")));
    let labels: serde_json::Map<String, Value> = labels.chain([own]).collect();
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    json!({
        "architecture": architecture,
        "os": "linux",
        "created": sample.created,
        "config": { "Labels": labels },
        "rootfs": { "type": "layers", "diff_ids": [layer] },
        "history": [{ "created": sample.created }],
    })
}

/// Loads them into the engine.
pub(crate) fn load(engine: &Private, samples: &[Sample<'_>]) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let at = |name: &str| directory.path().join(name);
    layer(directory.path(), "layer.tar")?;
    let digest = digest(&at("layer.tar"))?;
    for sample in samples {
        fs::write(at("config.json"), config(sample, &digest).to_string())?;
        let manifest =
            json!([{ "Config": "config.json", "RepoTags": sample.names, "Layers": ["layer.tar"] }]);
        fs::write(at("manifest.json"), manifest.to_string())?;
        tar(directory.path(), "image.tar", &["manifest.json", "config.json", "layer.tar"])?;
        engine.tell(&["load", "--input", &at("image.tar").display().to_string()])?;
    }
    Ok(())
}

fn tar(directory: &Path, archive: &str, names: &[&str]) -> Result<()> {
    let mut pack = Command::new("tar");
    pack.arg("-C").arg(directory).arg("-cf").arg(directory.join(archive)).args(names);
    ensure!(pack.status()?.success(), "tar does not pack {names:?}");
    Ok(())
}
