//! The emergency stop, with everything in containers.

use anyhow::{Context, Result, ensure};

use crate::ENGINE;
use crate::gc::labels_of;
use crate::private::Private;
use crate::sample::layer;
use crate::support::{Marker, Place, said, uproar};

/// The script that stops everything without agentctl.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/emergency-stop.sh");

/// R14, A37: an image with all labels of a container of ours passes them on to the containers made from it;
/// such a container still belongs to someone else.
pub(crate) async fn labels_of_an_image_make_no_container_ours() -> Result<()> {
    let (engine, place, files) = (Private::start()?, Place::new(), tempfile::tempdir()?);
    let marker = Marker::new();
    let mut run = engine.begun(&place, &marker);
    let labels = labels_of(&engine, run.pid())?.context("no container")?;
    layer(files.path(), "layer.tar")?;
    let layer = files.path().join("layer.tar").display().to_string();
    // A second line of a label must not be read as the label of another container.
    let forged = format!("x\n{} \"stranger\" \"stranger\"", "0".repeat(64));
    let changes: Vec<String> =
        labels.iter().map(|(key, value)| format!("LABEL {key}={}", serde_json::json!(value))).collect();
    let changes = changes.iter().flat_map(|change| ["--change", change]);
    let import: Vec<&str> = ["import"].into_iter().chain(changes).chain([&*layer, "inherits:1"]).collect();
    engine.tell(&import)?;
    engine.tell(&["create", "--name", "stranger", "inherits:1", "/none"])?;
    let cell = format!("dev.agentctl.cell={forged}");
    engine.tell(&["create", "--name", "second", "--label", &cell, "inherits:1", "/none"])?;
    let inherited = engine.tell(&["inspect", "--format", "{{json .Config.Labels}}", "stranger"])?;
    ensure!(labels.keys().all(|key| inherited.contains(key.as_str())), "the control: {inherited}");
    let strangers_stay = |after: &str| {
        let names = engine.tell(&["ps", "--all", "--format", "{{.Names}}"])?;
        ensure!(
            ["stranger", "second"].iter().all(|name| names.lines().any(|line| line == *name)),
            "after {after}: {names}"
        );
        Ok(())
    };

    let mut script = engine.program(&place, SCRIPT);
    let output = script.env("AGENTCTL_BIN", "/nonexistent").env("AGENTCTL_ENGINES", ENGINE.name).output()?;
    ensure!(output.status.success(), "{}", said(&output));
    marker.assert_gone();
    run.wait();
    strangers_stay("the script")?;
    ensure!(engine.agentctl(&place, &["resume"]).output()?.status.success(), "it is not lifted");
    for args in [&["kill", "--all"][..], &["gc"], &["emergency-stop"]] {
        engine.agentctl(&place, args).output()?;
        strangers_stay(&args.join(" "))?;
    }
    Ok(())
}

/// R14: while eight loops keep starting containers.
pub(crate) async fn while_loops_keep_starting_runs() -> Result<()> {
    uproar::while_eight_loops_keep_starting_runs(&ENGINE.sandbox());
    Ok(())
}

/// R14, F1: with many owners, some of which are being killed.
pub(crate) async fn amid_owners_that_are_killed() -> Result<()> {
    uproar::amid_owners_that_are_killed(&ENGINE.sandbox(), uproar::times(2, 20));
    Ok(())
}
