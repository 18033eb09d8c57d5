//! Places, precedence, mistakes and trust, on simulated hosts.

use std::path::Path;

use exec_core::{ByteSize, Error, Limit, Network};
use rstest::rstest;

use super::*;
use crate::backend::sample::BACKENDS;
use crate::found::loosened_by;
use crate::options::{OptionValue, option};
use crate::source::project_file;
use crate::surroundings::sample::Sample;
use crate::trust::Record;

const PROJECT: &str = "/srv/p";
const USER_FILE: &str = "/home/user/.config/agentctl/config.toml";

fn load_with(host: &Sample, flags: Vec<Entry>) -> Result<Config> {
    Config::load(host, Wanted { workspace: PROJECT.into(), file: None, flags })
}

fn load(host: &Sample) -> Result<Config> {
    load_with(host, Vec::new())
}

fn message(error: &Error) -> String {
    format!("{error}\n  try: {}", error.remedy().map_or_else(String::new, ToString::to_string))
}

/// The same document in every format, as a project's file.
fn refusal(extension: &str, text: &str) -> String {
    let host = Sample::default().file(&format!("{PROJECT}/.agentctl.{extension}"), text);
    message(&load(&host).unwrap_err())
}

/// R66: each message names file, line, key and the nearest valid key; a file's mistakes are reported all at once.
#[rstest]
#[case::toml(
    "toml",
    r#"memroy = "1g"
memory = "512x"
cpus = -1
pids = 1.5
network = "brigde"
no_fallback = "yes"
timeout = [5]
mounts = "/a"
env = { "" = "x" }
user = "root"
sandbox = "docker"
privileged = true
gpus = 0
preset = "lax"
image = ""
min_isolation = "jail"

[executor]
type = "dokcer"
dcoker = {}

[executor.docker]
imgae = "x"
readonly = "yes"
tmpfs = ["/var"]
volumes = ["a:b"]

[executor.local]
image = "x"
"#
)]
#[case::yaml(
    "yaml",
    r#"memroy: 1g
memory: 512x
cpus: -1
pids: 1.5
network: brigde
no_fallback: yes
timeout: [5]
mounts: /a
env: { "": x }
user: root
sandbox: docker
privileged: true
gpus: 0
preset: lax
image: ""
min_isolation: jail
executor:
  type: dokcer
  dcoker: {}
  docker:
    imgae: x
    readonly: yes
    tmpfs: [/var]
    volumes: ["a:b"]
  local:
    image: x
pids: 7
"#
)]
#[case::json(
    "json",
    r#"{
  "memroy": "1g", // a slip
  "memory": "512x",
  "cpus": -1,
  "pids": 1.5,
  "network": "brigde",
  "no_fallback": "yes",
  "timeout": [5],
  "mounts": "/a",
  "env": {"": "x"},
  "user": "root",
  "sandbox": "docker",
  "privileged": true,
  "gpus": 0,
  "preset": "lax",
  "image": "",
  "min_isolation": "jail",
  "executor": {
    "type": "dokcer",
    "dcoker": {},
    "docker": {"imgae": "x", "readonly": "yes", "tmpfs": ["/var"], "volumes": ["a:b"]},
    "local": {"image": "x"},
  },
  "pids": 7,
}
"#
)]
fn mistakes(#[case] extension: &str, #[case] text: &str) {
    insta::assert_snapshot!(format!("mistakes_{extension}"), refusal(extension, text));
}

/// R66
#[rstest]
#[case::toml("toml", "network = \"none\"\nallow_hosts = [\"example.org\"]\n")]
#[case::yaml("yaml", "network: none\nallow_hosts: [example.org]\n")]
#[case::json("json", "{\"network\": \"none\",\n\"allow_hosts\": [\"example.org\"]}\n")]
fn hosts_in_no_network(#[case] extension: &str, #[case] text: &str) {
    insta::assert_snapshot!(format!("hosts_{extension}"), refusal(extension, text));
}

/// R66
#[rstest]
#[case::toml("toml", "cpus = 1\nmounts = [\"/nowhere:/data\"]\n")]
#[case::yaml("yaml", "cpus: 1\nmounts: ['/nowhere:/data']\n")]
#[case::json("json", "{\"cpus\": 1,\n\"mounts\": [\"/nowhere:/data\"]}\n")]
fn a_mount_of_nothing(#[case] extension: &str, #[case] text: &str) {
    let host = Sample::default().file(&format!("/home/user/.config/agentctl/config.{extension}"), text);
    insta::assert_snapshot!(format!("mount_{extension}"), message(&load(&host).unwrap_err()));
}

/// R66
#[test]
fn what_else_is_wrong_with_files() {
    let texts = [
        Sample::default().file("/srv/p/.agentctl.toml", "").file("/srv/p/.agentctl.yaml", ""),
        Sample::default().file("/srv/p/.agentctl.toml", "allow_hosts = ['example.org']"),
        Sample::default().file("/srv/p/.agentctl.toml", "\nworkspace_mode = 'rw'\nwrite_paths = ['target']"),
        Sample::default()
            .file("/srv/p/.agentctl.toml", "write_paths = ['a']\nexecutor.docker.readonly = false"),
        Sample::default().file("/srv/p/.agentctl.toml", "unreadable"),
        Sample::default().file("/srv/p/.agentctl.toml", "link"),
        Sample::default().file("/srv/p/.agentctl.toml", "memory = \"1g\nx"),
        Sample::default().file("/srv/p/.agentctl.yaml", "- a\n- b"),
        Sample::default().file("/srv/p/.agentctl.json", "[]"),
        Sample::default().with("AGENTCTL_NETWORK", "brigde"),
    ];
    let messages: Vec<String> = texts.iter().map(|host| message(&load(host).unwrap_err())).collect();
    insta::assert_snapshot!(messages.join("\n\n"));
}

/// An option of the command line.
fn flag(name: &str, word: &str) -> Entry {
    let base = Base { backends: &BACKENDS, ..Base::default() };
    Entry::of_flag(option(name).unwrap().parse(word.as_ref(), &base).unwrap())
}

/// R61: from the highest; each row removes one more layer.
#[test]
fn precedence() {
    let all = Sample::default()
        .file(USER_FILE, "memory = '1g'\npids = 5")
        .file("/srv/p/.agentctl.yaml", "memory: 512m")
        .with("DOCKER_MEMORY_LIMIT", "300m")
        .with("AGENTCTL_MEMORY", "200m");
    let typed = vec![flag("memory", "100m")];
    let memory = |host: &Sample, flags: &[Entry]| {
        let config = load_with(host, flags.to_vec()).unwrap();
        (config.settings("local").opts.limits.memory, origin_of(&config, "memory"))
    };
    let without = |host: &Sample, name: &str| {
        let mut host = host.clone();
        host.variables.remove(name);
        host.files.remove(Path::new(name));
        host
    };
    let expected = |mib, from: &str| (Limit::Exactly(ByteSize::mib(mib)), from.to_owned());
    assert_eq!(memory(&all, &typed), expected(100, "--memory"));
    assert_eq!(memory(&all, &[]), expected(200, "AGENTCTL_MEMORY"));
    let host = without(&all, "AGENTCTL_MEMORY");
    assert_eq!(memory(&host, &[]), expected(300, "DOCKER_MEMORY_LIMIT"));
    let host = without(&host, "DOCKER_MEMORY_LIMIT");
    assert_eq!(memory(&host, &[]), expected(512, "/srv/p/.agentctl.yaml:1:1"));
    let host = without(&host, "/srv/p/.agentctl.yaml");
    assert_eq!(memory(&host, &[]), expected(1024, &format!("{USER_FILE}:1:1")));
    let host = without(&host, USER_FILE);
    assert_eq!(memory(&host, &[]), (Limit::Preset, "preset default".to_owned()));
}

fn origin_of(config: &Config, key: &str) -> String {
    let machine = Sample::default().machine();
    config.rows(machine).into_iter().find(|row| row.key == key).map(|row| row.from).unwrap()
}

/// R61: S3's shape.
#[test]
fn a_sandboxs_own_section_counts_there_and_nowhere_else() {
    let text = r#"{"executor": {"type": "docker", "docker": {
        "image": "debian:13", "network": "bridge", "readonly": true, "tmpfs": {"/tmp": "50m"},
        "volumes": ["/srv:/data"], "env": {"A": "1"}
    }}, "network": "none"}"#;
    let host = Sample::default().file("/home/user/.config/agentctl/config.json", text).file("/srv/x", "");
    let config = load(&host).unwrap();
    let (docker, local) = (config.settings("docker"), config.settings("local"));
    let named = SandboxChoice::Named("docker");
    assert_eq!((&docker.sandbox, &local.sandbox), (&named, &named));
    assert_eq!((docker.opts.network, local.opts.network), (Some(Network::Bridge), Some(Network::None)));
    assert_eq!((docker.opts.image.as_deref(), local.opts.image), (Some("debian:13"), None));
    assert_eq!(docker.opts.limits.tmp_size, Limit::Exactly(ByteSize::mib(50)));
    let opts = docker.to_opts(|_| None).unwrap();
    assert_eq!(opts.workspace.mode, exec_core::WorkspaceMode::ReadOnly { writable: Vec::new() });
    assert_eq!((opts.mounts.len(), opts.env.len()), (1, 1));
    let flagged = load_with(&host, vec![flag("network", "none")]).unwrap();
    assert_eq!(flagged.settings("docker").opts.network, Some(Network::None), "an option wins everywhere");
}

#[test]
fn variables_and_mounts_add_up_and_the_upper_replace_the_lower() {
    let host = Sample::default()
        .file("/a/x", "")
        .file("/b/x", "")
        .file(USER_FILE, "env = { A = '1', B = '1' }\nmounts = ['/a:/one', '/a:/two']");
    let flags = vec![flag("env", "B=2"), flag("mounts", "/b:/two:rw")];
    let config = load_with(&host, flags).unwrap();
    let opts = config.settings("local").to_opts(|_| None).unwrap();
    let env: Vec<_> =
        opts.env.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
    assert_eq!(env, ["A=1", "B=2"]);
    assert_eq!(opts.mounts.show(), "/a:/one:ro, /b:/two:rw");
}

#[test]
fn a_variable_that_is_passed_on_is_the_callers_or_missed() {
    let config = load(&Sample::default().file(USER_FILE, "env = ['TOKEN']")).unwrap();
    let opts = config.settings("local").to_opts(|name| (name == "TOKEN").then(|| "t".into())).unwrap();
    assert_eq!(opts.env[std::ffi::OsStr::new("TOKEN")], "t");
    let error = config.settings("local").to_opts(|_| None).unwrap_err();
    assert!(error.to_string().contains("no variable `TOKEN`"), "{error}");
}

#[test]
fn a_named_file_stands_in_place_of_all_others() {
    let host = Sample::default()
        .file(USER_FILE, "memory = 'nonsense'")
        .file("/srv/p/.agentctl.toml", "also nonsense")
        .file("/etc/ours.toml", "network = 'host'");
    let wanted = Wanted { workspace: PROJECT.into(), file: Some("/etc/ours.toml".into()), flags: Vec::new() };
    let config = Config::load(&host, wanted).unwrap();
    assert_eq!(config.settings("local").opts.network, Some(Network::Host));
    assert!(config.warnings().is_empty());
}

/// A38
#[test]
fn a_file_nobody_trusts_tightens_only() {
    let text =
        "network = 'host'\nmemory = '1g'\nmounts = ['/nowhere:/x']\n[executor.docker]\nimage = 'evil'\n";
    let host = Sample::default().file("/srv/p/.agentctl.toml", text);
    let config = load(&host).unwrap();
    let settings = config.settings("docker");
    assert_eq!((settings.opts.network, settings.opts.image, settings.opts.mounts.len()), (None, None, 0));
    assert_eq!(settings.opts.limits.memory, Limit::Exactly(ByteSize::gib(1)));
    insta::assert_snapshot!(config.warnings().join("\n"));

    let mut record = Record::default();
    record.trust(Path::new("/srv/p/.agentctl.toml"), text.as_bytes());
    let trusting = host.clone().file("/home/user/.local/state/agentctl/trusted", &record.write());
    let error = load(&trusting).unwrap_err();
    assert!(
        error.to_string().contains("`/nowhere` does not exist"),
        "effective settings are checked: {error}"
    );
    let trusting = trusting.file("/nowhere/x", "");
    let config = load(&trusting).unwrap();
    assert!(config.warnings().is_empty());
    assert_eq!(config.settings("docker").opts.network, Some(Network::Host));

    let changed = trusting.file("/srv/p/.agentctl.toml", &format!("{text}\n"));
    assert_eq!(load(&changed).unwrap().settings("docker").opts.network, None);
}

/// A38: a user who trusts a file sees everything it loosens, whatever the environment is today.
#[test]
fn what_is_trusted_is_shown_without_the_environment() {
    let path = Path::new("/srv/p/.agentctl.toml");
    let host = Sample::default()
        .file("/srv/p/.agentctl.toml", "network = 'host'\nmemory = '1g'\npids = 9")
        .file(USER_FILE, "memory = '512m'")
        .with("AGENTCTL_NETWORK", "host");
    let homes = Homes::of(&host);
    let layer = project_file(&host, &homes, path).unwrap().layer;
    let loosened = loosened_by(&host, &homes, &Record::default(), path, layer).unwrap();
    let keys: Vec<String> = loosened.iter().map(Entry::key).collect();
    assert_eq!(keys, ["network", "memory"]);
}

/// A38: trusting a file elsewhere does not trust a link to it here.
#[test]
fn a_projects_file_is_no_link() {
    let host = Sample::default().file("/srv/p/.agentctl.toml", "link");
    assert!(load(&host).unwrap_err().to_string().contains("symbolic link"));
}

/// R63
#[test]
fn the_workers_variables_yield_with_a_warning() {
    let host = Sample::default().with("ENABLE_DOCKER", "false").with("DOCKER_TIMEOUT", "1000");
    assert_eq!(load(&host).unwrap().settings("local").sandbox, SandboxChoice::WithoutContainers);
    let flags = vec![flag("executor", "docker")];
    let config = load_with(&host, flags).unwrap();
    assert_eq!(config.settings("docker").sandbox, SandboxChoice::Named("docker"));
    assert_eq!(config.warnings(), ["ENABLE_DOCKER does not count: --sandbox says otherwise"]);
}

/// R63: overriding a container named in a file causes a warning.
#[test]
fn a_file_that_the_workers_variable_beats_is_told() {
    let host = Sample::default().file(USER_FILE, "executor = 'docker'").with("ENABLE_DOCKER", "false");
    let config = load(&host).unwrap();
    assert_eq!(config.rules_containers_out().as_deref(), Some("ENABLE_DOCKER=false"));
    let said = format!("`executor = docker` ({USER_FILE}:1:1) does not count: ENABLE_DOCKER says otherwise");
    assert_eq!(config.warnings(), [said]);
    let agreeing = host.clone().file(USER_FILE, "executor = 'local'");
    assert!(load(&agreeing).unwrap().warnings().is_empty());
    let stronger = host.with("AGENTCTL_SANDBOX", "podman");
    assert_eq!(
        load(&stronger).unwrap().warnings(),
        ["ENABLE_DOCKER does not count: AGENTCTL_SANDBOX says otherwise"]
    );
}

/// R66
#[test]
fn every_value_is_shown_with_where_it_came_from() {
    let host = Sample::default()
        .file(
            USER_FILE,
            "timeout = '10m'\nenv = { A = '1' }\n[executor.docker]\nimage = 'debian:13'\nreadonly = true\n",
        )
        .file("/srv/p/.agentctl.yaml", "network: bridge\npids: 64\nwrite_paths: [target]\n")
        .with("AGENTCTL_CPUS", "1.5");
    let config = load_with(&host, vec![flag("network", "none")]).unwrap();
    let rows = config.rows(host.machine());
    let line = |row: &crate::Row| {
        format!(
            "{:<24} {:<28} {}{}",
            row.key,
            row.value,
            row.from,
            if row.counts { "" } else { " (does not count)" }
        )
    };
    insta::assert_snapshot!(rows.iter().map(line).collect::<Vec<_>>().join("\n"));
}

/// A34: a file can neither add rows nor hide one.
#[test]
fn what_is_shown_of_a_file_is_one_line() {
    let text = r#"env = { A = "1\nnetwork none default\u001b[2K" }"#;
    let config = load(&Sample::default().file("/srv/p/.agentctl.toml", text)).unwrap();
    let rows = config.rows(Sample::default().machine());
    assert_eq!(rows.last().unwrap().value, "A=1\\nnetwork none default\\u{1b}[2K");
    let error = load(&Sample::default().file("/srv/p/.agentctl.toml", r#"memory = "1\n2""#)).unwrap_err();
    assert!(!error.to_string().contains('\n'), "{error}");
}
