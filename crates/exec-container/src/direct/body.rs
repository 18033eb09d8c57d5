//! From a command and its container's specification to the engine's words for both. Pure.

use std::collections::HashMap;

use bollard::models::{ContainerCreateBody, ResourcesUlimits};

use super::command::Command;
use crate::body::{hardened, host_config, ulimit};
use crate::engine::Input;
use crate::profile::EngineProfile;
use crate::spec::ContainerSpec;

/// Where Docker puts its init program: before it mounts anything else, which would hide it.
pub(crate) const INIT_DIRECTORY: &str = "/sbin";
pub(super) const INIT: &str = "/sbin/docker-init";

/// A second one below the first, told to pass signals on to a process group, which the first can't be told.
const SECOND_INIT: [&str; 4] = [INIT, "-g", "-s", "--"];

/// How many processes of a container are not the command's.
pub(super) fn own_pids(profile: &EngineProfile) -> i64 {
    if profile.knows_init { 2 } else { 1 }
}

/// What a container for one command is created with.
pub(super) fn body(
    spec: &ContainerSpec,
    command: &Command,
    profile: &EngineProfile,
    labels: HashMap<String, String>,
) -> ContainerCreateBody {
    let mut host = host_config(spec, own_pids(profile), profile);
    // Else the command would be PID 1, which no signal ends by default, and would have to reap its orphans.
    host.init = Some(true);
    override_limits(host.ulimits.get_or_insert_default(), command);
    let second: &[&str] = if profile.knows_init { &SECOND_INIT } else { &[] };
    let entrypoint = second.iter().copied().chain([command.program.as_str()]);
    let reads = command.input == Input::Open;
    ContainerCreateBody {
        entrypoint: Some(entrypoint.map(str::to_owned).collect()),
        cmd: Some(command.arguments.clone()),
        env: Some(command.env.clone()),
        working_dir: Some(command.cwd.clone()),
        attach_stdin: Some(reads),
        open_stdin: Some(reads),
        // The end of what we write is the end of what it reads.
        stdin_once: Some(reads),
        ..hardened(spec, host, labels)
    }
}

/// The command's own limits, in place of the engine's of the same name.
fn override_limits(limits: &mut Vec<ResourcesUlimits>, command: &Command) {
    let own = [("core", Some(0)), ("nofile", command.open_files), ("fsize", command.file_size)];
    for (name, value) in own {
        let Some(value) = value.and_then(|value| i64::try_from(value).ok()) else { continue };
        limits.retain(|limit| limit.name.as_deref() != Some(name));
        limits.push(ulimit(name, value));
    }
}

#[cfg(test)]
mod tests {
    use exec_core::{ByteSize, Cmd, ExecOpts, Limit, OwnPlaces, Plan, Stdin};

    use super::*;
    use crate::body::tests::{profile, view};
    use crate::engine::ImageFacts;
    use crate::spec::{Base, spec};

    fn sent(cmd: &Cmd, opts: &ExecOpts, profile: &EngineProfile) -> serde_json::Value {
        let mut plan = Plan::resolve(cmd, opts, [], &OwnPlaces::default()).unwrap();
        plan.workspace_owner = (1000, 1000);
        let image = ImageFacts { id: "sha256:host".into(), ..ImageFacts::default() };
        let spec = spec(&plan, Base::Host { image: &image, view: &view() }, profile).unwrap();
        let labels = HashMap::from([("dev.agentctl.owner".to_owned(), "o1".to_owned())]);
        serde_json::to_value(body(&spec, &Command::of(&plan).unwrap(), profile, labels)).unwrap()
    }

    /// R2, R20, R40, R50
    #[test]
    fn a_command_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let mut opts = ExecOpts::in_workspace(dir.path()).with_env("MODE", "ci").with_stdin(Stdin::Stream);
        opts.limits.open_files = Limit::Exactly(64);
        opts.limits.file_size = Limit::Exactly(ByteSize::mib(1));
        let value = sent(&Cmd::new("cargo").args(["test", "--", ""]), &opts, &profile());
        let text = serde_json::to_string_pretty(&value).unwrap();
        let workspace = dir.path().canonicalize().unwrap();
        insta::assert_snapshot!(text.replace(&*workspace.to_string_lossy(), "/workspace"));
    }

    /// R50: on an engine whose init program we do not know, it gets no options of ours.
    #[test]
    fn an_init_program_we_do_not_know() {
        let opts = ExecOpts::in_workspace(std::env::temp_dir());
        let value = sent(&Cmd::new("make"), &opts, &EngineProfile { knows_init: false, ..profile() });
        assert_eq!(value["Entrypoint"], serde_json::json!(["make"]));
        assert_eq!(value["HostConfig"]["PidsLimit"], 1025);
        assert_eq!((&value["OpenStdin"], &value["HostConfig"]["Init"]), (&false.into(), &true.into()));
    }
}
