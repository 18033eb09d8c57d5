//! The effective settings of all layers on one backend.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use exec_core::{Error, ExecOpts, Machine, Request, ResolvedLimits, Result, WorkspaceMode};

use crate::fault::invalid;
use crate::layer::{Entry, Layer, Origin, Scope};
use crate::options::{self, OPTIONS, RunOption, SandboxChoice, WorkspaceAccess, WritePaths};

/// Effective settings.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub(crate) sandbox: SandboxChoice,
    pub(crate) no_fallback: bool,
    pub(crate) workspace_access: Option<WorkspaceAccess>,
    pub(crate) write_paths: Vec<PathBuf>,
    /// Variables; those without a value pass on the caller's.
    pub(crate) env: BTreeMap<OsString, Option<OsString>>,
    /// Everything that is an option of a run as it is.
    pub(crate) opts: ExecOpts,
}

impl Settings {
    /// Merges layers, the lowest first, for one backend or for none in particular. Within a layer the backend's own
    /// section wins.
    pub(crate) fn merge<'a>(layers: impl IntoIterator<Item = &'a Layer>, backend: Option<&str>) -> Self {
        let mut settings = Self::default();
        for layer in layers {
            let entries: Vec<&Entry> = layer.iter().filter(|entry| entry.scope.covers(backend)).collect();
            for entry in &entries {
                (entry.setting.option().reset)(&mut settings);
            }
            let (everywhere, own): (Vec<&Entry>, Vec<&Entry>) =
                entries.into_iter().partition(|entry| entry.scope == Scope::Everywhere);
            everywhere.into_iter().chain(own).for_each(|entry| entry.setting.apply(&mut settings));
        }
        settings
    }

    /// Whether anything is allowed that `before` prevented.
    pub(crate) fn is_looser_than(&self, before: &Self, machine: Machine) -> bool {
        OPTIONS.iter().any(|option| (option.is_looser)(before, self, machine))
    }

    pub(crate) fn resolved_limits(&self, machine: Machine) -> ResolvedLimits {
        self.opts.limits.resolve(machine)
    }

    /// The writable paths of a read-only workspace; `None` if all of it is writable.
    pub(crate) fn writable_paths(&self) -> Option<&[PathBuf]> {
        match (self.workspace_access, self.write_paths.is_empty()) {
            (Some(WorkspaceAccess::Rw), _) | (None, true) => None,
            (Some(WorkspaceAccess::Ro), _) | (None, false) => Some(&self.write_paths),
        }
    }

    /// Which executor to ask for.
    pub(crate) fn request(&self) -> Request {
        let floor = self.opts.min_isolation;
        match self.sandbox {
            SandboxChoice::Auto | SandboxChoice::WithoutContainers => {
                Request::Auto { no_fallback: self.no_fallback, floor }
            }
            SandboxChoice::Named(name) => Request::Named { name: name.to_owned(), floor },
        }
    }

    /// Converts to the options of a run; `own` looks up the caller's variables that are passed on by name.
    ///
    /// # Errors
    ///
    /// Fails if the caller has no such variable.
    pub fn to_opts(&self, own: impl Fn(&OsStr) -> Option<OsString>) -> Result<ExecOpts> {
        let mode = match self.writable_paths() {
            None => WorkspaceMode::ReadWrite,
            Some(paths) => WorkspaceMode::ReadOnly { writable: paths.to_vec() },
        };
        let mut opts = self.opts.clone().with_workspace_mode(mode);
        opts.env = self.environment(own)?;
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

fn nothing_to_pass_on(name: &OsStr) -> Error {
    let name = name.display();
    invalid(format!("you have no variable `{name}` to pass on"))
        .with_remedy(format!("set it first, or give it a value: {name}=…"))
}

/// Finds writable paths named in a workspace that is writable as a whole.
pub(crate) fn contradiction(layer: &Layer, backend: &str) -> Option<(Origin, Origin)> {
    fn last<O: RunOption>(layer: &Layer, backend: &str) -> Option<Origin> {
        let entries = layer.iter().filter(|entry| entry.scope.covers(Some(backend)));
        entries.rev().find(|entry| entry.setting.value::<O>().is_some()).map(|entry| entry.origin.clone())
    }
    let merged = Settings::merge([layer], Some(backend));
    if merged.workspace_access != Some(WorkspaceAccess::Rw) || merged.write_paths.is_empty() {
        return None;
    }
    last::<WritePaths>(layer, backend).zip(last::<options::WorkspaceMode>(layer, backend))
}
