//! The options of the command line as the highest layer of the configuration.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use exec_config::{Entry, Sandbox, Setting, Variable, WorkspaceAccess};
use exec_core::{Error, Preset, Result};

use super::invalid;
use crate::args::{EnvArgs, FileArgs, LimitArgs, ModeArg, PresetArg, SandboxArg, SandboxArgs};

/// What was typed, and nothing else: what was not is left to the layers below.
pub(super) fn layer(
    files: &FileArgs,
    sandbox: &SandboxArgs,
    limits: &LimitArgs,
    env: &EnvArgs,
) -> Result<Vec<Entry>> {
    let named_variable = |word: &OsString| variable(word).ok_or_else(|| nameless(word));
    let variables = env.env.iter().map(named_variable).collect::<Result<Vec<_>>>()?;
    let mut settings: Vec<Setting> = of_sandbox(sandbox).chain(of_limits(limits)).collect();
    settings.extend(files.workspace_mode.map(|mode| Setting::WorkspaceMode(to_access(mode))));
    settings.extend(named(&files.write_path, Setting::WritePaths));
    settings.extend(named(&files.mount, Setting::Mounts));
    settings.extend(named(&variables, Setting::Env));
    Ok(settings.into_iter().map(Entry::of_flag).collect())
}

fn of_sandbox(args: &SandboxArgs) -> impl Iterator<Item = Setting> {
    [
        args.sandbox.map(|sandbox| Setting::Executor(to_sandbox(sandbox))),
        args.no_fallback.map(Setting::NoFallback),
        args.min_isolation.map(Setting::MinIsolation),
        args.image.clone().map(Setting::Image),
        args.gpus.map(Setting::Gpus),
        args.network.map(Setting::Network),
        args.user.map(Setting::User),
    ]
    .into_iter()
    .flatten()
}

fn of_limits(args: &LimitArgs) -> impl Iterator<Item = Setting> {
    [
        args.preset.map(|preset| Setting::Preset(to_preset(preset))),
        args.memory.map(Setting::Memory),
        args.cpus.map(Setting::Cpus),
        args.pids.map(Setting::Pids),
        args.open_files.map(Setting::OpenFiles),
        args.tmp_size.map(Setting::TmpSize),
        args.timeout.map(Setting::Timeout),
        args.idle_timeout.map(Setting::IdleTimeout),
        args.grace.map(Setting::Grace),
        args.max_output.map(Setting::MaxOutput),
        args.best_effort_limits.map(Setting::BestEffortLimits),
    ]
    .into_iter()
    .flatten()
}

/// An option that can be given again says nothing when it was not given.
fn named<T: Clone>(values: &[T], setting: impl FnOnce(Vec<T>) -> Setting) -> Option<Setting> {
    (!values.is_empty()).then(|| setting(values.to_vec()))
}

fn to_sandbox(sandbox: SandboxArg) -> Sandbox {
    match sandbox {
        SandboxArg::Auto => Sandbox::Auto,
        SandboxArg::Local => Sandbox::Local,
        SandboxArg::Docker => Sandbox::Docker,
        SandboxArg::Podman => Sandbox::Podman,
    }
}

fn to_access(mode: ModeArg) -> WorkspaceAccess {
    match mode {
        ModeArg::Rw => WorkspaceAccess::Rw,
        ModeArg::Ro => WorkspaceAccess::Ro,
    }
}

fn to_preset(preset: PresetArg) -> Preset {
    match preset {
        PresetArg::Default => Preset::Default,
        PresetArg::Build => Preset::Build,
        PresetArg::Strict => Preset::Strict,
    }
}

fn nameless(word: &OsStr) -> Error {
    invalid(format!("--env {}: a variable needs a name", word.to_string_lossy()))
        .with_remedy("write --env NAME=VALUE, or --env NAME to pass your own value on")
}

/// `NAME=VALUE` or `NAME`; nothing if there is no name.
pub(super) fn variable(word: &OsStr) -> Option<Variable> {
    let bytes = word.as_bytes();
    if matches!(bytes.first(), None | Some(b'=')) {
        return None;
    }
    let part = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    Some(match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => Variable { name: part(&bytes[..at]), value: Some(part(&bytes[at + 1..])) },
        None => Variable { name: word.to_owned(), value: None },
    })
}
