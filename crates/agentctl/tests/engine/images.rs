//! `agentctl images` on a real engine.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::ENGINE;
use crate::private::Private;
use crate::registry::Registry;
use crate::sample::{OLD, OURS, Sample, load};
use crate::support::{OUTER_LIMIT, Place, eventually};

/// A moment ago, compared to ages of a year.
fn young() -> Result<String> {
    let output = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The output of `agentctl images` with these arguments, by name.
fn listed(engine: &Private, place: &Place, words: &[&str]) -> Result<BTreeSet<String>> {
    let args = [&["images"], words, &["--sandbox", ENGINE.name, "--json"]].concat();
    let output = engine.agentctl(place, &args).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{args:?}: {said}");
    let images: Value = serde_json::from_slice(&output.stdout)?;
    let images = images.as_array().context("no array")?;
    ensure!(images.iter().all(|image| image["engine"] == ENGINE.name && image["size_bytes"].is_u64()));
    let names = images.iter().flat_map(|image| image["names"].as_array().cloned().unwrap_or_default());
    Ok(names.filter_map(|name| Some(plain(name.as_str()?))).collect())
}

/// The images that the engine itself lists.
fn there(engine: &Private) -> Result<BTreeSet<String>> {
    let names = engine.tell(&["images", "--format", "{{.Repository}}:{{.Tag}}"])?;
    Ok(names.lines().map(plain).collect())
}

/// Without the prefix that Podman adds to names without a registry.
fn plain(name: &str) -> String {
    name.trim_start_matches("localhost/").trim_start_matches("docker.io/").to_owned()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// R76, A37: prune by age and by size removes unused images that we made. It keeps images that another user
/// built from one of ours, which inherit its label, and images that only have a similar name.
pub(crate) async fn prune_removes_our_unused_images() -> Result<()> {
    let (engine, place, young) = (Private::start()?, Place::new(), young()?);
    let ours: &[&str] = &[OURS];
    let sample = |names, created, labels| Sample { names, created, labels };
    load(
        &engine,
        &[
            sample(&["agentctl/project:old"], OLD, ours),
            sample(&["agentctl/host:twice", "agentctl/project:twice"], OLD, ours),
            sample(&["agentctl/project:used"], OLD, ours),
            sample(&["agentctl/project:young"], &young, ours),
            sample(&["built-from-ours:1"], OLD, ours),
            sample(&["agentctl/project:renamed", "kept:1"], OLD, ours),
            sample(&["agentctl/project:unlabelled"], OLD, &[]),
        ],
    )?;
    engine.tell(&["create", "--name", "user", "agentctl/project:used", "/none"])?;
    let all = there(&engine)?;
    ensure!(all.len() == 9, "the control: {all:?}");

    let twice = ["agentctl/host:twice", "agentctl/project:twice"];
    let seen = listed(&engine, &place, &["ls"])?;
    let of_ours =
        [&twice[..], &["agentctl/project:old", "agentctl/project:used", "agentctl/project:young"]].concat();
    ensure!(seen == set(&of_ours), "ls: {seen:?}");
    let table = engine.agentctl(&place, &["images", "ls", "--sandbox", ENGINE.name]).output()?;
    let table = String::from_utf8(table.stdout)?;
    ensure!(table.starts_with("SANDBOX") && table.contains("agentctl/project:old"), "{table}");

    let old = ["prune", "--older-than", "364d"];
    let condemned = set(&[&twice[..], &["agentctl/project:old"]].concat());
    let looked = listed(&engine, &place, &[&old[..], &["--dry-run"]].concat())?;
    ensure!(looked == condemned, "dry run: {looked:?}");
    ensure!(there(&engine)? == all, "a dry run changes nothing");
    let gone = listed(&engine, &place, &old)?;
    ensure!(gone == condemned, "by age: {gone:?}");
    let left: BTreeSet<String> = all.difference(&condemned).cloned().collect();
    ensure!(there(&engine)? == left, "by age: {:?}", there(&engine)?);

    let gone = listed(&engine, &place, &["prune", "--keep-size", "1"])?;
    ensure!(gone == set(&["agentctl/project:young"]), "by size: {gone:?}");
    engine.tell(&["rm", "user"])?;
    let gone = listed(&engine, &place, &old)?;
    ensure!(gone == set(&["agentctl/project:used"]), "the control: nothing uses it now: {gone:?}");
    let strangers =
        ["agentctl/project:renamed", "agentctl/project:unlabelled", "built-from-ours:1", "kept:1"];
    ensure!(there(&engine)? == set(&strangers), "strangers: {:?}", there(&engine)?);
    Ok(())
}

/// R76: the image that a run made for itself is one of them, under any name the engine has for it, and the
/// next run makes it again.
pub(crate) async fn an_image_made_by_a_run_is_ours() -> Result<()> {
    let (engine, place) = (Private::start()?, Place::new());
    let run = || engine.agentctl(&place, &["run", "--sandbox", ENGINE.name, "--", "echo", "ran"]).output();
    for _ in 0..2 {
        let output = run()?;
        ensure!(output.stdout == b"ran\n", "{output:?}");
        // A busy engine removes its container a moment later.
        let is_unused = || engine.tell(&["ps", "--all", "--quiet"]).is_ok_and(|ids| ids.is_empty());
        ensure!(eventually(OUTER_LIMIT, is_unused), "its container is left");
        let seen = listed(&engine, &place, &["ls"])?;
        ensure!(
            seen.len() == 1 && seen.iter().all(|name| name.starts_with("agentctl/host:")),
            "ls: {seen:?}"
        );
        // Its size is zero, so it is pruned by age, and is soon old enough.
        let prune = || listed(&engine, &place, &["prune", "--older-than", "1s"]);
        ensure!(eventually(OUTER_LIMIT, || prune().is_ok_and(|gone| gone == seen)), "it stays");
        ensure!(there(&engine)?.is_empty(), "{:?}", there(&engine)?);
    }
    Ok(())
}

/// An image on an engine, removed when the test ends.
struct Fetched<'a>(&'a Private, &'a str);

impl Drop for Fetched<'_> {
    fn drop(&mut self) {
        let _ = self.0.tell(&["rmi", self.1]);
    }
}

/// R76: progress is shown, then the digest; a missing image is an error with a remedy. An image from a
/// registry is not ours, whatever its labels.
pub(crate) async fn a_pull_shows_progress_and_the_digest() -> Result<()> {
    let place = Place::new();
    let registry = Registry::start(&Sample { names: &["sample"], created: OLD, labels: &[OURS] })?;
    let engine = Private::pulling_from(&registry.address())?;
    let name = format!("{}/sample:1", registry.address());
    ensure!(engine.tell(&["image", "inspect", &name]).is_err(), "the control: it is not on the engine yet");
    let pull =
        |name: &str| engine.agentctl(&place, &["images", "pull", "--sandbox", ENGINE.name, name]).output();
    let output = pull(&name)?;
    let _fetched = Fetched(&engine, &name);
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}");
    let (progress, last) = said.trim().rsplit_once('\n').context("no progress")?;
    ensure!(progress.contains("complete"), "progress: {said}");
    let known_as = format!("{} has {}/sample@{}", ENGINE.name, registry.address(), registry.digest);
    ensure!(last.contains(&known_as), "the digest: {said}");
    engine.tell(&["image", "inspect", &name])?;
    ensure!(!listed(&engine, &place, &["ls"])?.contains(&name), "it is taken for ours");

    let missing = pull(&format!("{}/none:1", registry.address()))?;
    let said = String::from_utf8_lossy(&missing.stderr);
    ensure!(missing.status.code() == Some(125), "{missing:?}");
    ensure!(said.contains("/none:1` is not here and can't be pulled") && said.contains("try: "), "{said}");
    Ok(())
}
