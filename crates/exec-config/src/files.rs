//! Operations on configuration files: check, trust, create.

use std::io;
use std::path::{Path, PathBuf};

use exec_core::{Change, Error, ErrorKind, Remedy, Result};

use crate::config::{Config, Wanted};
use crate::fault::invalid;
use crate::format::Format;
use crate::found::loosened_by;
use crate::layer::Entry;
use crate::places::{self, Homes};
use crate::source::{project_file, record, record_path};
use crate::surroundings::HostEnvironment;
use crate::template::template;
use crate::write::{self, Existing};

/// Reads a file as a run would and returns the number of its settings.
pub fn check(host: &impl HostEnvironment, path: &Path) -> Result<usize> {
    let wanted = Wanted { file: Some(path.to_owned()), ..Wanted::default() };
    Config::load(host, wanted).map(|config| config.layers.first().map_or(0, Vec::len))
}

/// The result of trusting a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// The path by which runs find the file.
    pub path: PathBuf,
    /// The settings that are effective only because the file is trusted.
    pub loosens: Vec<Entry>,
}

/// Trusts a project's file as long as its bytes stay the same. The trusted bytes are the checked ones, so a file with
/// mistakes is never trusted.
pub fn trust(host: &impl HostEnvironment, path: &Path) -> Result<Trusted> {
    let homes = Homes::of(host);
    let path = place(host, path)?;
    let file = project_file(host, &homes, &path)?;
    let mut record = record(host, &homes)?;
    let loosens = loosened_by(host, &homes, &record, &path, file.layer)?;
    record.trust(&path, &file.bytes);
    remember(&homes, &record.write())?;
    Ok(Trusted { path, loosens })
}

/// Stops trusting a file and returns whether it was trusted. The file need not exist.
pub fn untrust(host: &impl HostEnvironment, path: &Path) -> Result<bool> {
    let homes = Homes::of(host);
    let mut record = record(host, &homes)?;
    let known = record.forget(&place(host, path)?);
    if known {
        remember(&homes, &record.write())?;
    }
    Ok(known)
}

/// The project's files that a run in this workspace would read, the outermost first.
pub fn project_files(host: &impl HostEnvironment, workspace: &Path) -> Result<Vec<PathBuf>> {
    let workspace = host.canonical(workspace).map_err(|error| {
        invalid(format!("`{}` can't be used as a workspace", workspace.display())).with_source(error)
    })?;
    places::project_files(host, &Homes::of(host), &workspace)
}

/// Whose file to create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose<'a> {
    /// The project's, in this directory.
    Project(&'a Path),
    /// The user's.
    User,
}

/// Creates a commented file and returns its path. An existing file is replaced only on request, and a second file in
/// another format is never created beside it.
pub fn init(
    host: &impl HostEnvironment,
    whose: Whose<'_>,
    format: Format,
    existing: Existing,
) -> Result<PathBuf> {
    let homes = Homes::of(host);
    let (directory, stem) = match whose {
        Whose::Project(directory) => (directory, places::PROJECT_STEM),
        Whose::User => (homes.config.as_deref().ok_or_else(no_home)?, places::USER_STEM),
    };
    let path = directory.join(format!("{stem}.{}", format.extension()));
    match places::existing(host, directory, stem) {
        Some(found) if found != path => {
            Err(invalid(format!("there is a file `{}` already", found.display()))
                .with_remedy("edit it, or remove it first: two files in one place can't both count"))
        }
        _ => write::plain(&path, &template(format), existing)
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    invalid(format!("there is a file `{}` already", path.display())).with_remedy(
                        Remedy::from("edit it").or(Change::give("force").with_purpose("to replace it")),
                    )
                }
                _ => unwritable(&path, error),
            })
            .map(|()| path),
    }
}

fn no_home() -> Error {
    invalid("you have no home directory that could be found").with_remedy("set HOME or XDG_CONFIG_HOME")
}

/// The path by which a run finds the file: its directory has no links.
fn place(host: &impl HostEnvironment, path: &Path) -> Result<PathBuf> {
    let unusable = |error: io::Error| {
        invalid(format!("`{}` does not exist", path.display()))
            .with_source(error)
            .with_remedy("name a project's configuration file")
    };
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| unusable(io::ErrorKind::InvalidInput.into()))?;
    Ok(host.canonical(directory).map_err(unusable)?.join(name))
}

fn remember(homes: &Homes, text: &str) -> Result<()> {
    let path = record_path(homes).ok_or_else(|| {
        invalid("the list of trusted files has no place").with_remedy("set HOME or XDG_STATE_HOME")
    })?;
    write::private(&path, text).map_err(|error| unwritable(&path, error))
}

fn unwritable(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "write configuration", format!("`{}` can't be written", path.display()))
        .with_source(error)
        .with_remedy("check the directory and its permissions")
}
