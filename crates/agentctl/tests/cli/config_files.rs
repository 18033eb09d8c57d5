//! `agentctl config`, and invalid configuration files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{LOCAL, Place};

/// The error message of a run that must not start, with this file in the workspace.
fn refusal(name: &str, text: &str) -> String {
    let place = Place::new();
    place.file(name, text);
    said(&place, &["run", "--", "touch", "ran"], 125)
}

fn said(place: &Place, args: &[&str], code: i32) -> String {
    let output = place.output(args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(!place.path().join("ran").exists());
    let directory = place.path().canonicalize().unwrap();
    let user = place.user().to_str().unwrap();
    said.replace(directory.to_str().unwrap(), "[workspace]").replace(user, "[user]")
}

/// R66: nothing starts.
#[test]
fn mistakes_are_reported_with_their_place() {
    let files = [
        (".agentctl.toml", "cpus = 1\nmemroy = '1g'\n"),
        (".agentctl.yaml", "cpus: one\n"),
        (".agentctl.json", "{\n  \"memory\": \"512x\"\n}"),
        (".agentctl.yml", "cpus: -1\nnetwork: none\nallow_hosts: [example.org]\n"),
    ];
    let refusals: Vec<String> = files.iter().map(|(name, text)| refusal(name, text)).collect();
    insta::assert_snapshot!(refusals.join("\n"), @r"
    agentctl: [workspace]/.agentctl.toml:2:1: unknown key `memroy`; did you mean `memory`?
      try: look at it first, a command that ran there may have made it; correct the file; `agentctl config schema` describes every key

    agentctl: [workspace]/.agentctl.yaml:1:7: `cpus`: `one` is not a number of CPUs: write a number like `2` or `0.5`
      try: look at it first, a command that ran there may have made it; correct the file; `agentctl config schema` describes every key

    agentctl: [workspace]/.agentctl.json:2:13: `memory`: `512x` is not a size: the unit is b, k, m, g or t; write a number and a unit, like `512m` or `2g`
      try: look at it first, a command that ran there may have made it; correct the file; `agentctl config schema` describes every key

    agentctl: [workspace]/.agentctl.yml:1:7: `cpus`: `-1` is not a number of CPUs: it must be at least 0.01
      [workspace]/.agentctl.yml:3:1: `allow_hosts` and `network` (line 2) contradict each other: hosts can't be allowed one by one in a network that is chosen as a whole
      try: look at it first, a command that ran there may have made it; correct the file; `agentctl config schema` describes every key
    ");
}

/// R66
#[test]
fn two_files_in_one_place() {
    let place = Place::new();
    place.file(".agentctl.toml", "");
    place.file(".agentctl.jsonc", "{}");
    insta::assert_snapshot!(said(&place, &["run", "--", "touch", "ran"], 125), @r"
    agentctl: there are two configurations in one place: `[workspace]/.agentctl.toml` and `[workspace]/.agentctl.jsonc`
      try: look at it first, a command that ran there may have made it; move what is in one of them into the other, and remove it
    ");
    insta::assert_snapshot!(said(&place, &["config", "show"], 125), @r"
    agentctl: there are two configurations in one place: `[workspace]/.agentctl.toml` and `[workspace]/.agentctl.jsonc`
      try: look at it first, a command that ran there may have made it; move what is in one of them into the other, and remove it
    ");
}

/// R66
#[test]
fn a_file_to_begin_with() {
    let place = Place::new();
    for format in ["toml", "yaml", "json"] {
        let place = Place::new();
        said(&place, &["config", "init", "--format", format], 0);
        let name = format!(".agentctl.{}", if format == "json" { "jsonc" } else { format });
        assert!(place.path().join(&name).exists());
        let checked = place.output(["config", "check", &name]);
        assert_eq!(String::from_utf8_lossy(&checked.stdout), format!("{name}: 0 settings, nothing wrong\n"));
    }
    insta::assert_snapshot!(said(&place, &["config", "init"], 0), @"agentctl: wrote .agentctl.toml: every key is explained in it and none is set yet");
    place.file(".agentctl.toml", "pids = 7");
    insta::assert_snapshot!(said(&place, &["config", "init"], 125), @r"
    agentctl: there is a file `.agentctl.toml` already
      try: edit it, or pass --force to replace it
    ");
    insta::assert_snapshot!(said(&place, &["config", "init", "--force", "--format", "yaml"], 125), @r"
    agentctl: there is a file `.agentctl.toml` already
      try: edit it, or remove it first: two files in one place can't both count
    ");
    assert_eq!(fs::read_to_string(place.path().join(".agentctl.toml")).unwrap(), "pids = 7");
    said(&place, &["config", "init", "--force"], 0);
    assert_ne!(fs::read_to_string(place.path().join(".agentctl.toml")).unwrap(), "pids = 7");
    said(&place, &["config", "init", "--user"], 0);
    assert!(place.user().join("agentctl/config.toml").exists());
}

/// R66
#[test]
fn effective_settings_are_shown_with_their_origin() {
    let place = Place::new();
    place.file(".agentctl.toml", "preset = 'strict'\nnetwork = 'bridge'\n");
    let mut command = place.agentctl(["config", "show"]);
    command.env_remove(LOCAL.0);
    let output = command.env("AGENTCTL_PIDS", "16").env("AGENTCTL_CPUS", "1").output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let directory = place.path().canonicalize().unwrap();
    insta::assert_snapshot!(shown.replace(directory.to_str().unwrap(), "[workspace]"), @r"
    KEY                 VALUE                       FROM
    executor            auto                        default
    no_fallback         false                       default
    min_isolation       -                           default
    image               host                        default
    gpus                none                        default
    network             none                        default
    user                the owner of the workspace  default
    workspace_mode      rw                          default
    write_paths         -                           default
    mounts              -                           default
    env                 -                           default
    preset              strict                      [workspace]/.agentctl.toml:1:1
    memory              512 MiB                     preset strict
    cpus                1                           AGENTCTL_CPUS
    pids                16                          AGENTCTL_PIDS
    open_files          unlimited                   default
    tmp_size            50 MiB                      preset strict
    timeout             30s                         preset strict
    idle_timeout        unlimited                   default
    grace               5s                          default
    max_output          unlimited                   default
    best_effort_limits  false                       default
    network             bridge                      [workspace]/.agentctl.toml:2:1 (does not count: not trusted)
    ");
    let output = place.output(["config", "show", "--json"]);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = object["settings"].as_array().unwrap().iter().find(|row| row["key"] == "preset").unwrap();
    assert_eq!(row["value"], "strict");
    assert!(row["from"].as_str().unwrap().ends_with(".agentctl.toml:1:1"), "{row}");
}

#[test]
fn the_schema_is_an_object_that_knows_every_key() {
    let output = Place::new().output(["config", "schema"]);
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"]["idle_timeout"]["description"].is_string());
}

/// A38
#[test]
fn trust_is_given_and_taken_back() {
    let place = Place::new();
    insta::assert_snapshot!(said(&place, &["config", "trust"], 125), @r"
    agentctl: this project has no configuration file
      try: name one, or begin one with `agentctl config init`
    ");
    place.file(".agentctl.toml", "memroy = 1");
    insta::assert_snapshot!(said(&place, &["config", "trust"], 125), @r"
    agentctl: [workspace]/.agentctl.toml:1:1: unknown key `memroy`; did you mean `memory`?
      try: correct the file; `agentctl config schema` describes every key
    ");
    place.file(".agentctl.toml", "network = 'host'");
    insta::assert_snapshot!(said(&place, &["config", "trust"], 0), @r"
    agentctl: [workspace]/.agentctl.toml is trusted until it changes
      it loosens network: host
    ");
    let record = place.user().join("agentctl/trusted");
    assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(said(&place, &["config", "show"], 0), "");
    insta::assert_snapshot!(said(&place, &["config", "untrust", ".agentctl.toml"], 0), @"agentctl: .agentctl.toml is not trusted any more");
    assert!(said(&place, &["config", "show"], 0).contains("does not count"));
    insta::assert_snapshot!(said(&place, &["config", "untrust"], 0), @"agentctl: [workspace]/.agentctl.toml was not trusted");
}
