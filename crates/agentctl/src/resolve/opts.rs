//! The options of a run, from the groups of arguments.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use exec_core::{
    DangerousMounts, Error, ErrorKind, ExecOpts, LimitPolicy, Limits, Preset, Result, Workspace,
    WorkspaceMode,
};

use super::Host;
use crate::args::{EnvArgs, FileArgs, LimitArgs, ModeArg, PresetArg, SandboxArgs};

pub(super) fn build(
    files: FileArgs,
    sandbox: &SandboxArgs,
    limits: &LimitArgs,
    env: EnvArgs,
    host: Host,
) -> Result<ExecOpts> {
    let mut opts = ExecOpts::default();
    opts.workspace =
        Workspace { mode: workspace_mode(files.workspace_mode, files.write_path)?, path: files.workspace };
    opts.cwd = files.cwd;
    opts.mounts = files.mount;
    opts.dangerous_mounts =
        if files.allow_dangerous_mounts { DangerousMounts::Accept } else { DangerousMounts::Refuse };
    opts.image.clone_from(&sandbox.image);
    opts.gpus = sandbox.gpus;
    opts.network = sandbox.network;
    opts.user = sandbox.user.unwrap_or_default();
    opts.min_isolation = sandbox.min_isolation;
    opts.limits = to_limits(limits);
    opts.idle_timeout = limits.idle_timeout;
    opts.grace = limits.grace;
    opts.env = environment(env, host)?;
    Ok(opts)
}

fn workspace_mode(mode: Option<ModeArg>, writable: Vec<std::path::PathBuf>) -> Result<WorkspaceMode> {
    match (mode, writable.is_empty()) {
        (Some(ModeArg::Rw), false) => {
            Err(invalid("--write-path says what may be written in a read-only workspace")
                .with_remedy("leave --write-path out, or use --workspace-mode ro"))
        }
        (Some(ModeArg::Rw) | None, true) => Ok(WorkspaceMode::ReadWrite),
        (Some(ModeArg::Ro) | None, _) => Ok(WorkspaceMode::ReadOnly { writable }),
    }
}

fn to_limits(args: &LimitArgs) -> Limits {
    Limits {
        preset: match args.preset {
            PresetArg::Default => Preset::Default,
            PresetArg::Build => Preset::Build,
            PresetArg::Strict => Preset::Strict,
        },
        memory: args.memory.unwrap_or_default(),
        cpus: args.cpus.unwrap_or_default(),
        pids: args.pids.unwrap_or_default(),
        open_files: args.open_files.unwrap_or_default(),
        tmp_size: args.tmp_size.unwrap_or_default(),
        output: args.max_output.unwrap_or_default(),
        timeout: args.timeout.unwrap_or_default(),
        policy: if args.best_effort_limits { LimitPolicy::Report } else { LimitPolicy::Require },
        ..Limits::default()
    }
}

fn environment(args: EnvArgs, host: Host) -> Result<BTreeMap<OsString, OsString>> {
    args.env.into_iter().map(|word| variable(&word, host)).collect()
}

fn variable(word: &OsStr, host: Host) -> Result<(OsString, OsString)> {
    let bytes = word.as_bytes();
    if matches!(bytes.first(), None | Some(b'=')) {
        return Err(invalid(format!("--env {}: a variable needs a name", word.to_string_lossy()))
            .with_remedy("write --env NAME=VALUE, or --env NAME to pass your own value on"));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == b'=') {
        let part = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
        return Ok((part(&bytes[..at]), part(&bytes[at + 1..])));
    }
    match (host.variable)(word) {
        Some(value) => Ok((word.to_owned(), value)),
        None => {
            Err(invalid(format!("--env {0}: you have no variable `{0}` to pass on", word.to_string_lossy()))
                .with_remedy(format!("set it first, or give a value: --env {}=…", word.to_string_lossy())))
        }
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, "run", message)
}
