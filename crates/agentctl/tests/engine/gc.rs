//! `agentctl gc` on a real engine that belongs to the test.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;

use crate::private::Private;
use crate::sample::{OLD, Sample, load};
use crate::support::{Marker, OUTER_LIMIT, Place, eventually, said};

pub(crate) type Labels = BTreeMap<String, String>;

const KINDS: [&str; 2] = ["volume", "network"];

/// The labels of this process's container, or none if it has no container.
pub(crate) fn labels_of(engine: &Private, pid: u32) -> Result<Option<Labels>> {
    let filter = format!("label=dev.agentctl.owner.pid={pid}");
    let ids = engine.tell(&["ps", "--all", "--quiet", "--filter", &filter])?;
    let Some(id) = ids.lines().next() else { return Ok(None) };
    let labels = engine.tell(&["inspect", "--format", "{{json .Config.Labels}}", id])?;
    Ok(Some(serde_json::from_str(&labels)?))
}

/// These labels with changes, for an object of this name; a label without a value is removed.
fn changed(labels: &Labels, name: &str, changes: &[(&str, Option<&str>)]) -> Labels {
    let mut labels = labels.clone();
    labels.insert("dev.agentctl.cell".to_owned(), name.to_owned());
    for (key, value) in changes {
        labels.remove(*key);
        labels.extend(value.map(|value| ((*key).to_owned(), value.to_owned())));
    }
    labels
}

fn create(engine: &Private, what: &[&str], labels: &Labels, rest: &[&str]) -> Result<()> {
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let labels = labels.iter().flat_map(|label| ["--label", label]).collect();
    engine.tell(&[what.to_vec(), labels, rest.to_vec()].concat()).map(drop)
}

fn there(engine: &Private, kind: &str) -> Result<BTreeSet<String>> {
    let names = engine.tell(&[kind, "ls", "--format", "{{.Name}}"])?;
    Ok(names.lines().map(str::to_owned).collect())
}

fn report(output: &Output) -> Result<Value> {
    ensure!(output.status.success(), "{}", said(output));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Volumes and networks that look like a dead owner's, except for one difference each.
fn strangers(dead: &Labels, alive: &Labels) -> Vec<(&'static str, Labels)> {
    let (owner, boot) = ("dev.agentctl.owner", "dev.agentctl.owner.boot");
    let one = |key: &str, value: &str| Labels::from([(key.to_owned(), value.to_owned())]);
    vec![
        ("alive", changed(alive, "alive", &[])),
        ("of-another-boot", changed(dead, "of-another-boot", &[(boot, Some("another"))])),
        ("half", changed(dead, "half", &[("dev.agentctl.owner.start", None)])),
        ("ownerless", changed(dead, "ownerless", &[(owner, Some(""))])),
        ("copied", changed(dead, "original", &[])),
        ("another-tools", one("org.testcontainers", "true")),
        ("agentctl-4711-0-name", Labels::new()),
        // The label of objects that serve all owners, like the volume with PID 1.
        ("agentctl-exec-init-0", one("dev.agentctl.version", "0.0.0")),
    ]
}

/// R15, A37: a dead owner's leftovers are removed, with the containers that used them. Unrelated objects
/// stay, and so does a leftover that one of them uses: that is reported and not an error. If the dead owner
/// had its own service, `gc` works without it.
pub(crate) async fn volumes_and_networks_of_dead_owners_are_removed() -> Result<()> {
    let (engine, place) = (Private::start()?, Place::new());
    load(&engine, &[Sample { names: &["sample:1"], created: OLD, labels: &[] }])?;
    let (mut killed, mut living) =
        (engine.begun(&place, &Marker::new()), engine.begun(&place, &Marker::new()));
    let dead = labels_of(&engine, killed.pid())?.context("no container")?;
    let alive = labels_of(&engine, living.pid())?.context("no container")?;
    killed.send(Signal::KILL);
    killed.wait();
    let gone =
        eventually(OUTER_LIMIT, || labels_of(&engine, killed.pid()).is_ok_and(|found| found.is_none()));
    ensure!(gone, "its container is left");

    let strangers = strangers(&dead, &alive);
    for kind in KINDS {
        for name in ["left", "shared", "used"] {
            create(&engine, &[kind, "create"], &changed(&dead, name, &[]), &[name])?;
        }
        for (name, labels) in &strangers {
            create(&engine, &[kind, "create"], labels, &[name])?;
        }
    }
    let all: Vec<BTreeSet<String>> = KINDS.iter().map(|kind| there(&engine, kind)).collect::<Result<_>>()?;
    let container = |name: &str, uses: &str, labels: &Labels| {
        let (volume, command) = (format!("{uses}:/data"), ["sample:1", "/none"]);
        let options = ["--name", name, "--volume", &volume, "--network", uses];
        create(&engine, &["create"], labels, &[&options[..], &command].concat())
    };
    container("stranger", "used", &Labels::new())?;
    container("remains", "shared", &changed(&dead, "remains", &[]))?;

    let looked = report(&engine.agentctl(&place, &["gc", "--dry-run", "--json"]).output()?)?;
    for kind in KINDS {
        let found = &looked[format!("{kind}s")];
        ensure!(names(found) == BTreeSet::from(["left", "shared"]), "{kind}: {looked}");
    }
    ensure!(names(&looked["containers"]) == BTreeSet::from(["remains"]), "{looked}");
    for (kind, all) in KINDS.iter().zip(&all) {
        ensure!(there(&engine, kind)? == *all, "a dry run changes nothing");
    }

    let cleaned = engine.agentctl(&place, &["gc"]).output()?;
    let messages = said(&cleaned);
    ensure!(cleaned.status.success(), "{messages}");
    ensure!(messages.contains("removed container remains\n"), "{messages}");
    for (kind, all) in KINDS.iter().zip(&all) {
        for name in ["left", "shared"] {
            ensure!(messages.contains(&format!("removed {kind} {name}\n")), "{messages}");
        }
        let kept = format!("{kind} used: its owner is dead, but it is in use by stranger");
        ensure!(messages.contains(&kept), "{messages}");
        let mut rest = all.clone();
        rest.retain(|name| !["left", "shared"].contains(&name.as_str()));
        ensure!(there(&engine, kind)? == rest, "{kind}: {:?}", there(&engine, kind)?);
    }

    let again = report(&engine.agentctl(&place, &["gc", "--json"]).output()?)?;
    ensure!(again["in_use"] == 2 && again["left"].as_array().is_some_and(|left| left.len() == 2), "{again}");
    engine.tell(&["rm", "stranger"])?;
    let freed = report(&engine.agentctl(&place, &["gc", "--json"]).output()?)?;
    for kind in KINDS {
        ensure!(names(&freed[format!("{kind}s")]) == BTreeSet::from(["used"]), "the control: {freed}");
    }
    ensure!(labels_of(&engine, living.pid())?.is_some(), "the living run was touched");
    living.send(Signal::TERM);
    living.wait();
    Ok(())
}
