//! Loosening and tightening of every key, compared with the settings below it.

use exec_core::ByteSize;
use rstest::rstest;

use super::*;
use crate::backend::sample::BACKENDS;
use crate::document;
use crate::format::Format;
use crate::layer::Origin;
use crate::node::Position;
use crate::read::Base;

const MACHINE: Machine = Machine { cpus: 16, memory: Some(ByteSize::gib(64)) };

fn layer(toml: &str) -> Layer {
    let base = Base { backends: &BACKENDS, ..Base::default() };
    let placed = document::read(&Format::Toml.parse(toml).unwrap(), &base).unwrap();
    let origin = |at: Position| Origin::File(std::path::Path::new("x").into(), at);
    placed.into_iter().map(|p| Entry { scope: p.scope, setting: p.setting, origin: origin(p.at) }).collect()
}

/// The ignored keys of a project, given the user's file.
fn ignored(user: &str, project: &str) -> Vec<String> {
    let between = Between { below: &[layer(user)], above: &[], backends: &BACKENDS, machine: MACHINE };
    between.admit(layer(project)).ignored.iter().map(Entry::key).collect()
}

/// A38
#[rstest]
#[case::weaker_sandbox("", "executor = 'local'", "executor")]
#[case::back_to_auto("executor = 'docker'", "executor = 'auto'", "executor")]
#[case::another_sandbox("executor = 'docker'", "executor = 'podman'", "executor")]
#[case::another_sandbox_by_type("executor = 'docker'", "executor.type = 'local'", "executor")]
#[case::docker_where_it_is_switched_off("executor = 'local'", "executor = 'docker'", "executor")]
#[case::the_engine_with_the_looser_section(
    "executor.podman.network = 'host'",
    "executor = 'podman'",
    "executor"
)]
#[case::an_engine_in_place_of_auto("", "executor = 'docker'", "executor")]
#[case::fallback("no_fallback = true", "no_fallback = false", "no_fallback")]
#[case::lower_floor("min_isolation = 'container'", "min_isolation = 'subreaper'", "min_isolation")]
#[case::image("", "image = 'evil'", "image")]
#[case::image_of_docker("", "executor.docker.image = 'evil'", "executor.docker.image")]
#[case::gpus("gpus = 1", "gpus = 'all'", "gpus")]
#[case::network("", "network = 'bridge'", "network")]
#[case::network_of_local("", "executor.local.network = 'host'", "executor.local.network")]
#[case::network_of_podman(
    "network = 'bridge'",
    "executor.podman.network = 'host'",
    "executor.podman.network"
)]
#[case::user("", "user = 0", "user")]
#[case::writable("workspace_mode = 'ro'", "workspace_mode = 'rw'", "workspace_mode")]
#[case::writable_in_docker(
    "workspace_mode = 'ro'",
    "executor.docker.readonly = false",
    "executor.docker.readonly"
)]
#[case::write_path("workspace_mode = 'ro'", "write_paths = ['src']", "write_paths")]
#[case::climbing_write_path("write_paths = ['target']", "write_paths = ['target/../src']", "write_paths")]
#[case::mount("", "mounts = ['/srv/data:/data']", "mounts")]
#[case::volume("", "executor.docker.volumes = ['/srv/data:/data']", "executor.docker.volumes")]
#[case::writable_mount("mounts = ['/a:/b:ro']", "mounts = ['/a:/b:rw']", "mounts")]
#[case::another_source("mounts = ['/a:/b:ro']", "mounts = ['/c:/b:ro']", "mounts")]
#[case::variable("", "env = { PATH = '/w' }", "env")]
#[case::passed_on_variable("", "env = ['AWS_SECRET_ACCESS_KEY']", "env")]
#[case::changed_variable("env = { A = '1' }", "env = { A = '2' }", "env")]
#[case::preset("", "preset = 'build'", "preset")]
#[case::less_strict("preset = 'strict'", "preset = 'default'", "preset")]
#[case::memory("", "memory = '3g'", "memory")]
#[case::memory_lifted("", "memory = 'unlimited'", "memory")]
#[case::cpus("", "cpus = 4", "cpus")]
#[case::pids("preset = 'strict'", "pids = 33", "pids")]
#[case::open_files("open_files = 10", "open_files = 11", "open_files")]
#[case::tmp_size("", "tmp_size = '2g'", "tmp_size")]
#[case::tmpfs("tmp_size = '1m'", "executor.docker.tmpfs = ['/tmp']", "executor.docker.tmpfs")]
#[case::timeout("", "timeout = '6m'", "timeout")]
#[case::idle_timeout("idle_timeout = '1s'", "idle_timeout = '2s'", "idle_timeout")]
#[case::grace("", "grace = '1h'", "grace")]
#[case::output("max_output = '1m'", "max_output = '2m'", "max_output")]
#[case::best_effort("", "best_effort_limits = true", "best_effort_limits")]
fn what_loosens_does_not_count(#[case] user: &str, #[case] project: &str, #[case] key: &str) {
    assert_eq!(ignored(user, project), [key]);
}

/// A38
#[rstest]
#[case("", "no_fallback = true\nmin_isolation = 'namespaces'")]
#[case("network = 'bridge'", "network = 'none'\nexecutor.docker.network = 'bridge'")]
#[case("", "workspace_mode = 'ro'\nwrite_paths = ['target']")]
#[case("write_paths = ['target']", "write_paths = ['target/debug']")]
#[case("write_paths = ['target']", "workspace_mode = 'ro'")]
#[case("mounts = ['/a:/b:rw']", "mounts = ['/a:/b:ro']")]
#[case("env = { A = '1' }", "env = { A = '1' }")]
#[case("", "preset = 'strict'\ntimeout = '2m'\npids = 64")]
#[case("preset = 'build'", "memory = '1g'\ncpus = 1\ntimeout = '10m'")]
#[case("", "idle_timeout = '1m'\ngrace = '1s'\nmax_output = '1m'\nopen_files = 99\ntmp_size = '1m'")]
#[case("gpus = 'all'\nbest_effort_limits = true", "gpus = 1\nbest_effort_limits = false")]
fn what_tightens_counts(#[case] user: &str, #[case] project: &str) {
    assert_eq!(ignored(user, project), [""; 0]);
}

#[test]
fn every_key_can_be_judged() {
    for key in &crate::options::OPTIONS {
        let toml = format!("{} = {}", key.name, key.example.replace("\": ", "\" = "));
        assert_eq!(ignored(&toml, &toml), [""; 0], "the same again is not looser: {toml}");
    }
}

/// The command line applies with and without the file.
#[test]
fn what_is_overruled_loosens_nothing() {
    let above = [vec![Entry::of_flag(layer("network = 'host'")[0].setting.clone())]];
    let between = Between { below: &[], above: &above, backends: &BACKENDS, machine: MACHINE };
    assert!(between.admit(layer("network = 'bridge'")).ignored.is_empty());
}
