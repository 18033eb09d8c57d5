//! Loads all layers: effective settings, ignored settings and warnings.
//!
//! From the highest: options, `AGENTCTL_*` variables, the worker's variables, the project's files (nearest first),
//! the user's file, defaults. A file named on the command line replaces the user's and the project's files.

use std::path::PathBuf;

use exec_core::{Request, Result};

use crate::backend::Backend;
use crate::environment::{self, Environment};
use crate::fault::invalid;
use crate::found::Found;
use crate::layer::{Entry, Layer, Origin};
use crate::named;
use crate::options::{Mounts, Sandbox, SandboxChoice};
use crate::places::Homes;
use crate::read::Base;
use crate::settings::{Settings, contradiction};
use crate::surroundings::HostEnvironment;

/// What to load.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The directory the command will work in.
    pub workspace: PathBuf,
    /// A file that replaces the user's and the project's.
    pub file: Option<PathBuf>,
    /// Options of the command line.
    pub flags: Vec<Entry>,
}

/// The loaded configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The lowest first.
    pub(crate) layers: Vec<Layer>,
    /// Settings ignored because their file is not trusted.
    pub(crate) ignored: Vec<Entry>,
    warnings: Vec<String>,
    files: Vec<PathBuf>,
    backends: &'static [Backend],
}

impl Config {
    /// Reads every layer.
    ///
    /// # Errors
    ///
    /// Fails on the first file with mistakes (listing all of them), on invalid variables, on contradictory settings
    /// and on mounts of files that do not exist.
    pub fn load(host: &impl HostEnvironment, wanted: Wanted) -> Result<Self> {
        let homes = Homes::of(host);
        let backends = host.backends();
        let base = Base { directory: wanted.workspace.clone(), home: homes.home.clone(), backends };
        let environment = environment::read(&host.variables(), &base)?;
        let mut warnings = overruled(&environment, &wanted.flags, backends);
        warnings.extend(environment.warnings);
        let above = [environment.worker, environment.ours, wanted.flags];
        let mut found = Found { warnings, ..Found::default() };
        match &wanted.file {
            Some(file) => {
                let links = named::links(host, &wanted.workspace, file)?;
                found.take_own(host, &homes, file, links)?;
            }
            None => found.look_in_all_places(host, &homes, &wanted.workspace, &above)?,
        }
        let beaten = beaten_by_the_worker(&found.layers, &above, backends);
        found.warnings.extend(beaten);
        found.layers.extend(above);
        for layer in &found.layers {
            refuse_contradiction(layer, backends)?;
            refuse_missing_sources(host, layer)?;
        }
        // The files were read just now; one that has vanished needs no protection.
        let files = found.files.iter().filter_map(|file| host.canonical(file).ok()).collect();
        Ok(Self { layers: found.layers, ignored: found.ignored, warnings: found.warnings, files, backends })
    }

    /// The backends that can be named, in order of preference.
    pub fn backends(&self) -> &'static [Backend] {
        self.backends
    }

    /// The effective settings on one backend.
    pub fn settings(&self, backend: &str) -> Settings {
        Settings::merge(&self.layers, Some(backend))
    }

    /// Which executor to ask for. The backends' own sections cannot change it.
    pub fn request(&self) -> Request {
        Settings::merge(&self.layers, None).request()
    }

    /// What excludes containers from `auto`, if anything does. The reason is reported with the run, like that of any other
    /// skipped sandbox.
    pub fn rules_containers_out(&self) -> Option<String> {
        let last = named_last(&self.layers)?;
        rules_containers_out(last).then(|| format!("{}=false", last.origin))
    }

    /// Warnings to show to the user.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The files that were read, without symbolic links. No command may change them.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }
}

/// R63: warns about each worker variable that has no effect.
fn overruled(environment: &Environment, flags: &[Entry], backends: &[Backend]) -> Vec<String> {
    let mut warnings = Vec::new();
    for entry in &environment.worker {
        let same = |other: &&Entry| other.setting.name() == entry.setting.name();
        let winner = environment.ours.iter().chain(flags).rfind(same);
        if let Some(winner) = winner.filter(|winner| !agree(entry, winner, backends)) {
            warnings.push(format!("{} does not count: {} says otherwise", entry.origin, winner.origin));
        }
    }
    warnings
}

/// Warns when a worker variable overrides a container sandbox named in a file, which would otherwise go unnoticed.
fn beaten_by_the_worker(files: &[Layer], above: &[Layer], backends: &[Backend]) -> Option<String> {
    let winner = named_last(above).filter(|entry| rules_containers_out(entry))?;
    let named = named_last(files)?;
    let is_container = chosen(named, backends).is_some_and(|backend| backend.has_images);
    is_container.then(|| {
        format!(
            "`executor = {}` ({}) does not count: {} says otherwise",
            named.value(),
            named.origin,
            winner.origin
        )
    })
}

/// The entry that decides which executor to use.
fn named_last(layers: &[Layer]) -> Option<&Entry> {
    layers.iter().flatten().rfind(|entry| entry.setting.value::<Sandbox>().is_some())
}

/// The backend that an entry names.
fn chosen<'a>(entry: &Entry, backends: &'a [Backend]) -> Option<&'a Backend> {
    match entry.setting.value::<Sandbox>()? {
        SandboxChoice::Named(name) => backends.iter().find(|backend| backend.name == *name),
        SandboxChoice::Auto | SandboxChoice::WithoutContainers => None,
    }
}

/// Whether a setting that wins has the effect of the one that it beats.
fn agree(beaten: &Entry, winner: &Entry, backends: &[Backend]) -> bool {
    let is_no_container = || chosen(winner, backends).is_some_and(|backend| !backend.has_images);
    beaten.setting == winner.setting || (rules_containers_out(beaten) && is_no_container())
}

fn rules_containers_out(entry: &Entry) -> bool {
    entry.setting.value::<Sandbox>() == Some(&SandboxChoice::WithoutContainers)
}

pub(crate) fn refuse_contradiction(layer: &Layer, backends: &[Backend]) -> Result<()> {
    match backends.iter().find_map(|backend| contradiction(layer, backend.name)) {
        None => Ok(()),
        Some((paths, mode)) => {
            let paths = match paths {
                Origin::File(..) => format!("{paths}: `write_paths`"),
                _ => paths.to_string(),
            };
            Err(invalid(format!(
                "{paths} says what may be written in a read-only workspace, but this one is writable ({mode})"
            ))
            .with_remedy("leave the paths out, or make the workspace read-only"))
        }
    }
}

/// Checks mounts from files here, where the line is known. Mounts from options are checked when they are used.
fn refuse_missing_sources(host: &impl HostEnvironment, layer: &Layer) -> Result<()> {
    for entry in layer {
        let (Some(mounts), Origin::File(..)) = (entry.setting.value::<Mounts>(), &entry.origin) else {
            continue;
        };
        if let Some(mount) = mounts.iter().find(|mount| !host.exists(&mount.source)) {
            return Err(invalid(format!(
                "{}: `{}`: `{}` does not exist on this host",
                entry.origin,
                entry.key(),
                mount.source.display()
            ))
            .with_remedy("make it, correct the path, or leave the mount out"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
