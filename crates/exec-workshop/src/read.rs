//! Reads the files of a workshop and collects all their mistakes. All input of this crate is here.

use std::io;
use std::path::{Path, PathBuf};

use exec_config::tree::{Base, Fault, Position, hint, listed};
use exec_config::{Backend, Format};
use exec_core::{Error, ErrorKind, Operation, Remedy, Result};
use exec_files::{Dir, UserDirs};

use crate::worker::{self, Worker};
use crate::workshop::{self, Place, Workshop};

/// Larger than any file of this kind.
const LARGEST: u64 = 1024 * 1024;

/// Reads a workshop and its workers, for sandboxes of these backends.
///
/// # Errors
///
/// Lists every mistake with its file and line.
pub fn load(path: &Path, backends: &'static [Backend]) -> Result<Workshop> {
    let text = read(path).map_err(|error| {
        Error::new(ErrorKind::InvalidInput, "read workshop", format!("can't read {}", path.display()))
            .with_source(error)
            .with_remedy("name a workshop's YAML file")
    })?;
    let mut mistakes = Mistakes::default();
    let home = UserDirs::here().home;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let base = Base { directory, home, backends };
    let root = match Format::Yaml.parse(&text) {
        Ok(root) => root,
        Err(fault) => return Err(mistakes.with(path, vec![fault]).into_error()),
    };
    let mut faults = Vec::new();
    let draft = workshop::read(&root, &base, &mut faults);
    let mut files = vec![path.to_owned()];
    let (mut workers, mut known): (Vec<(Worker, PathBuf)>, Vec<String>) = (Vec::new(), Vec::new());
    for place in draft.workers {
        let (worker, file, at) = match place {
            Place::Here(worker, at) => (Some(*worker), path.to_owned(), at),
            Place::File(file, at) => {
                let worker = from_file(&file, at, &mut faults, &mut mistakes);
                files.push(file.clone());
                (worker, file, at)
            }
        };
        let Some(worker) = worker else {
            // A worker that delegates to this one is not a second mistake.
            known.extend(file.file_stem().map(|name| name.to_string_lossy().into_owned()));
            continue;
        };
        known.push(worker.name.clone());
        if workers.iter().any(|(other, _)| other.name == worker.name) {
            faults.push(Fault::new(at, format!("two workers are named `{}`", worker.name)));
        }
        workers.push((worker, file));
    }
    mistakes = mistakes.with(path, faults);
    mistakes = delegates(&workers, &known, mistakes);
    match (draft.name, draft.isolation, mistakes.lines.is_empty()) {
        (Some(name), Some(isolation), true) => {
            let workers = workers.into_iter().map(|(worker, _)| worker).collect();
            Ok(Workshop { name, isolation, workers, files, settings: draft.settings })
        }
        _ => Err(mistakes.into_error()),
    }
}

/// Reads a worker from the front matter of its file.
fn from_file(file: &Path, at: Position, faults: &mut Vec<Fault>, mistakes: &mut Mistakes) -> Option<Worker> {
    let text = match read_in_place(file) {
        Ok(text) => text,
        Err(error) => {
            faults.push(Fault::new(at, format!("can't read the worker's file {}: {error}", file.display())));
            return None;
        }
    };
    let mut own = Vec::new();
    let worker = match front_matter(&text).and_then(|yaml| Format::Yaml.parse(&yaml)) {
        Ok(node) => Some(worker::read(&node, &mut own)),
        Err(fault) => {
            own.push(fault);
            None
        }
    };
    *mistakes = std::mem::take(mistakes).with(file, own);
    worker
}

/// The text between the first two `---` lines, padded so that lines keep their numbers.
fn front_matter(text: &str) -> Result<String, Fault> {
    let missing = |line, message: &str| Fault::new(Position { line, column: 1 }, message);
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Err(missing(
            1,
            "a worker's file begins with `---`, then `name:` and `description:`, then `---`",
        ));
    }
    let within: Vec<&str> = lines.clone().take_while(|line| line.trim_end() != "---").collect();
    if within.len() == lines.count() {
        return Err(missing(1, "the front matter that begins here has no end: write `---` below it"));
    }
    Ok(format!("\n{}\n", within.join("\n")))
}

/// Checks that workers delegate only to existing workers.
fn delegates(workers: &[(Worker, PathBuf)], known: &[String], mut mistakes: Mistakes) -> Mistakes {
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    for (worker, file) in workers {
        let wrong = worker.delegates_to.iter().zip(&worker.delegates_at).filter_map(|(name, at)| {
            let message = if *name == worker.name {
                "`delegates-to`: a worker can't hand work to itself".to_owned()
            } else if names.contains(&name.as_str()) {
                return None;
            } else {
                format!("`delegates-to`: unknown worker `{}`; {}", name.escape_debug(), hint(name, &names))
            };
            Some(Fault::new(*at, message))
        });
        mistakes = mistakes.with(file, wrong.collect());
    }
    mistakes
}

/// Reads a worker's file without following a link, which a command could replace even if its target is protected. A
/// pipe in place of the file is refused without blocking.
fn read_in_place(path: &Path) -> io::Result<String> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let bytes = Dir::open(&directory.canonicalize()?)?.read(name, LARGEST)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn read(path: &Path) -> io::Result<String> {
    let bytes = exec_files::read_named(path, LARGEST)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// All mistakes, file by file.
#[derive(Debug, Default)]
struct Mistakes {
    lines: Vec<String>,
}

impl Mistakes {
    fn with(mut self, path: &Path, faults: Vec<Fault>) -> Self {
        if !faults.is_empty() {
            self.lines.push(listed(path, faults));
        }
        self
    }

    fn into_error(self) -> Error {
        Error::new(ErrorKind::InvalidInput, "read workshop", self.lines.join("\n"))
            .with_remedy(Remedy::from(Operation::Help("workshop")).after("correct what is named"))
    }
}

#[cfg(test)]
mod tests;
