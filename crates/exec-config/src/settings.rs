//! The effective settings of all layers on one sandbox.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use exec_core::{
    Error, ExecOpts, Gpus, IsolationLevel, LimitPolicy, Limits, MountSpec, Network, Request, Result, User,
    WorkspaceMode,
};

use crate::fault::invalid;
use crate::layer::{Engine, Entry, Layer, Origin, Scope};
use crate::setting::Setting;
use crate::values::{Sandbox, WorkspaceAccess};

/// Effective settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Which sandbox.
    pub executor: Sandbox,
    /// With `auto`: only the first choice.
    pub no_fallback: bool,
    /// The least isolation to accept.
    pub min_isolation: Option<IsolationLevel>,
    /// The image.
    pub image: Option<String>,
    /// Graphics processors.
    pub gpus: Option<Gpus>,
    /// The network.
    pub network: Option<Network>,
    /// The user to run as.
    pub user: User,
    /// Whether the workspace is writable.
    pub workspace_mode: Option<WorkspaceAccess>,
    /// Writable paths in a read-only workspace.
    pub write_paths: Vec<PathBuf>,
    /// Paths of the host to mount.
    pub mounts: Vec<MountSpec>,
    /// Variables; those without a value pass on the caller's.
    pub env: BTreeMap<OsString, Option<OsString>>,
    /// Limits on resources.
    pub limits: Limits,
    /// Longest silence.
    pub idle_timeout: Option<Duration>,
    /// Time between the polite signal and the kill.
    pub grace: Option<Duration>,
}

impl Settings {
    /// Merges layers, the lowest first, for one sandbox. Within a layer the sandbox's own section wins.
    pub(crate) fn merge<'a>(layers: impl IntoIterator<Item = &'a Layer>, engine: Engine) -> Self {
        let mut settings = Self::default();
        for layer in layers {
            let applies = |entry: &&Entry| entry.scope.covers(engine);
            // Two keys decide what is writable: a layer that sets either replaces both.
            if layer.iter().filter(applies).any(|entry| entry.setting.is_about_writing()) {
                settings.workspace_mode = None;
                settings.write_paths.clear();
            }
            for scope in [Scope::Everywhere, Scope::On(engine)] {
                let entries: Vec<_> = layer.iter().filter(|entry| entry.scope == scope).collect();
                settings.make_way(&entries);
                for entry in entries {
                    settings.apply(entry.setting.clone());
                }
            }
        }
        settings
    }

    /// A mount replaces one of a lower layer with the same target. Duplicates within a layer are reported by the
    /// check of all mounts.
    fn make_way(&mut self, entries: &[&Entry]) {
        for entry in entries {
            if let Setting::Mounts(new) = &entry.setting {
                self.mounts.retain(|old| new.iter().all(|new| new.target != old.target));
            }
        }
    }

    fn apply(&mut self, setting: Setting) {
        let limits = &mut self.limits;
        match setting {
            Setting::Executor(sandbox) => self.executor = sandbox,
            Setting::NoFallback(on) => self.no_fallback = on,
            Setting::MinIsolation(level) => self.min_isolation = Some(level),
            Setting::Image(image) => self.image = Some(image),
            Setting::Gpus(gpus) => self.gpus = Some(gpus),
            Setting::Network(network) => self.network = Some(network),
            Setting::User(user) => self.user = user,
            Setting::WorkspaceMode(mode) => self.workspace_mode = Some(mode),
            Setting::WritePaths(paths) => self.write_paths = paths,
            Setting::Mounts(mounts) => self.mounts.extend(mounts),
            Setting::Env(variables) => {
                self.env.extend(variables.into_iter().map(|variable| (variable.name, variable.value)));
            }
            Setting::Preset(preset) => limits.preset = preset,
            Setting::Memory(size) => limits.memory = size,
            Setting::Cpus(cpus) => limits.cpus = cpus,
            Setting::Pids(count) => limits.pids = count,
            Setting::OpenFiles(count) => limits.open_files = count,
            Setting::TmpSize(size) => limits.tmp_size = size,
            Setting::Timeout(time) => limits.timeout = time,
            Setting::MaxOutput(size) => limits.output = size,
            Setting::IdleTimeout(time) => self.idle_timeout = Some(time),
            Setting::Grace(time) => self.grace = Some(time),
            Setting::BestEffortLimits(on) => {
                limits.policy = if on { LimitPolicy::Report } else { LimitPolicy::Require };
            }
        }
    }

    /// Which parts of the workspace are writable.
    pub fn workspace_mode(&self) -> WorkspaceMode {
        match (self.workspace_mode, self.write_paths.is_empty()) {
            (Some(WorkspaceAccess::Rw), _) | (None, true) => WorkspaceMode::ReadWrite,
            (Some(WorkspaceAccess::Ro), _) | (None, false) => {
                WorkspaceMode::ReadOnly { writable: self.write_paths.clone() }
            }
        }
    }

    /// Which executor to ask for.
    pub fn request(&self) -> Request {
        let floor = self.min_isolation;
        match self.executor {
            Sandbox::Auto => Request::Auto { no_fallback: self.no_fallback, floor },
            named => Request::Named { name: named.to_string(), floor },
        }
    }

    /// Converts to the options of a run; `own` looks up the caller's variables that are passed on by name.
    pub fn to_opts(&self, own: impl Fn(&OsStr) -> Option<OsString>) -> Result<ExecOpts> {
        let mut opts = ExecOpts::default().with_workspace_mode(self.workspace_mode());
        opts.env = self.environment(own)?;
        opts.mounts.clone_from(&self.mounts);
        opts.image.clone_from(&self.image);
        opts.gpus = self.gpus;
        opts.network = self.network;
        opts.user = self.user;
        opts.min_isolation = self.min_isolation;
        opts.limits = self.limits.clone();
        opts.idle_timeout = self.idle_timeout;
        opts.grace = self.grace;
        Ok(opts)
    }

    fn environment(&self, own: impl Fn(&OsStr) -> Option<OsString>) -> Result<BTreeMap<OsString, OsString>> {
        let value = |(name, value): (&OsString, &Option<OsString>)| {
            let value = value.clone().or_else(|| own(name)).ok_or_else(|| nothing_to_pass_on(name))?;
            Ok((name.clone(), value))
        };
        self.env.iter().map(value).collect()
    }
}

impl Setting {
    pub(crate) fn is_about_writing(&self) -> bool {
        matches!(self, Self::WorkspaceMode(_) | Self::WritePaths(_))
    }
}

fn nothing_to_pass_on(name: &OsStr) -> Error {
    let name = name.display();
    invalid(format!("you have no variable `{name}` to pass on"))
        .with_remedy(format!("set it first, or give it a value: {name}=…"))
}

/// Finds writable paths named in a workspace that is writable as a whole.
pub(crate) fn contradiction(layer: &Layer, engine: Engine) -> Option<(Origin, Origin)> {
    let merged = Settings::merge([layer], engine);
    let of = |wanted: fn(&Setting) -> bool| {
        let found = layer.iter().rfind(|entry| entry.scope.covers(engine) && wanted(&entry.setting));
        found.map(|entry| entry.origin.clone())
    };
    if merged.workspace_mode != Some(WorkspaceAccess::Rw) || merged.write_paths.is_empty() {
        return None;
    }
    of(|setting| matches!(setting, Setting::WritePaths(_)))
        .zip(of(|setting| matches!(setting, Setting::WorkspaceMode(_))))
}
