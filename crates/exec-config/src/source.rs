//! Single files: a configuration as a layer, and the list of trusted files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use exec_core::{Error, Result};

use crate::document;
use crate::fault::{self, Fault, invalid};
use crate::format::{EXTENSIONS, Format};
use crate::layer::{Entry, Layer, Origin};
use crate::node::Places;
use crate::places::Homes;
use crate::read::Base;
use crate::surroundings::{HostEnvironment, Links};
use crate::trust::Record;

/// A file and its settings.
pub(crate) struct ReadFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) layer: Layer,
}

/// The list of trusted files.
pub(crate) fn record(host: &impl HostEnvironment, homes: &Homes) -> Result<Record> {
    let Some(path) = record_path(homes) else { return Ok(Record::default()) };
    match host.read_own(&path) {
        Ok(text) => Ok(Record::parse(&text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Record::default()),
        Err(error) => Err(invalid(format!("the list of trusted files `{}` can't be read", path.display()))
            .with_source(error)
            .with_remedy("make its directory yours alone (chmod 700), or set XDG_STATE_HOME to another")),
    }
}

pub(crate) fn record_path(homes: &Homes) -> Option<PathBuf> {
    homes.state.as_ref().map(|state| state.join("trusted"))
}

/// Reads a file in a place where agents write.
pub(crate) fn project_file(host: &impl HostEnvironment, homes: &Homes, path: &Path) -> Result<ReadFile> {
    read_file(host, homes, path, Links::Refuse)
}

/// Reads a file's settings, or reports everything that is wrong with it.
pub(crate) fn read_file(
    host: &impl HostEnvironment,
    homes: &Homes,
    path: &Path,
    links: Links,
) -> Result<ReadFile> {
    let format = Format::of(path).ok_or_else(|| {
        let known: Vec<&str> = EXTENSIONS.iter().map(|(extension, _)| *extension).collect();
        invalid(format!("the name of `{}` does not say what it is written in", path.display()))
            .with_remedy(format!("name it so that it ends with one of these: {}", known.join(", ")))
    })?;
    let bytes = host.read(path, links).map_err(|error| unreadable(path, error))?;
    let directory = path.parent().unwrap_or(Path::new("")).to_owned();
    let base = Base { directory, home: homes.home.clone(), backends: host.backends() };
    let layer = read_text(&bytes, format, path, &base).map_err(|faults| fault::error(path, faults))?;
    Ok(ReadFile { bytes, layer })
}

fn read_text(bytes: &[u8], format: Format, path: &Path, base: &Base) -> Result<Layer, Vec<Fault>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
        vec![Fault::new(Places::of(&valid).of_byte(valid.len()), "this is not UTF-8")]
    })?;
    let root = format.parse(text.trim_start_matches('\u{feff}')).map_err(|fault| vec![fault])?;
    let mut placed = document::read(&root, base)?;
    placed.sort_by_key(|placed| placed.at);
    let shown: Arc<Path> = path.into();
    let entry = |placed: document::Placed| Entry {
        scope: placed.scope,
        setting: placed.setting,
        origin: Origin::File(Arc::clone(&shown), placed.at),
    };
    Ok(placed.into_iter().map(entry).collect())
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    let remedy = match error.kind() {
        std::io::ErrorKind::FileTooLarge => "shorten it, or remove it",
        _ => "make it a file that you may read, or remove it",
    };
    invalid(format!("the configuration `{}` can't be read", path.display()))
        .with_source(error)
        .with_remedy(remedy)
}
