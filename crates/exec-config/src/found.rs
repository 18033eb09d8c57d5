//! Finds the files, from the lowest to the highest, and decides which of their settings count.

use std::path::{Path, PathBuf};

use exec_core::Result;
use exec_core::printable;

use crate::config::refuse_contradiction;
use crate::fault::perhaps_planted;
use crate::layer::{Entry, Layer, Origin};
use crate::places::{self, Homes};
use crate::shell_word::shell_word;
use crate::source::{ReadFile, project_file, read_file, record};
use crate::surroundings::{HostEnvironment, Links};
use crate::trust::{Between, Record};

/// What was found so far.
#[derive(Default)]
pub(crate) struct Found {
    /// The lowest first.
    pub(crate) layers: Vec<Layer>,
    /// Settings ignored because their file is not trusted.
    pub(crate) ignored: Vec<Entry>,
    pub(crate) warnings: Vec<String>,
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
}

impl Found {
    /// Adds a file of the user's own.
    pub(crate) fn take_own(
        &mut self,
        host: &impl HostEnvironment,
        homes: &Homes,
        path: &Path,
        links: Links,
    ) -> Result<()> {
        self.layers.push(read_file(host, homes, path, links)?.layer);
        self.files.push(path.to_owned());
        Ok(())
    }

    pub(crate) fn look_in_all_places(
        &mut self,
        host: &impl HostEnvironment,
        homes: &Homes,
        workspace: &Path,
        above: &[Layer],
    ) -> Result<()> {
        self.take_users(host, homes)?;
        // A missing workspace is reported where it is used.
        let Ok(workspace) = host.canonical(workspace) else { return Ok(()) };
        let files = places::project_files(host, homes, &workspace)?;
        let record = if files.is_empty() { Record::default() } else { record(host, homes)? };
        for path in files {
            let file = project_file(host, homes, &path).map_err(perhaps_planted)?;
            self.take_projects(host, &record, path, file, above);
        }
        Ok(())
    }

    fn take_users(&mut self, host: &impl HostEnvironment, homes: &Homes) -> Result<()> {
        match places::user_file(host, homes)? {
            Some(path) => self.take_own(host, homes, &path, Links::Follow),
            None => Ok(()),
        }
    }

    fn take_projects(
        &mut self,
        host: &impl HostEnvironment,
        record: &Record,
        path: PathBuf,
        file: ReadFile,
        above: &[Layer],
    ) {
        if record.trusts(&path, &file.bytes) {
            self.layers.push(file.layer);
        } else {
            let between =
                Between { below: &self.layers, above, backends: host.backends(), machine: host.machine() };
            let admitted = between.admit(file.layer);
            self.layers.push(admitted.counts);
            if !admitted.ignored.is_empty() {
                self.warnings.push(not_trusted(&path, &admitted.ignored));
                self.ignored.extend(admitted.ignored);
            }
        }
        self.files.push(path);
    }
}

/// The settings of a project's file that count only if it is trusted. Options and variables are left out: they apply
/// to this run only, while trust lasts.
pub(crate) fn loosened_by(
    host: &impl HostEnvironment,
    homes: &Homes,
    record: &Record,
    path: &Path,
    layer: Layer,
) -> Result<Vec<Entry>> {
    refuse_contradiction(&layer, host.backends())?;
    let mut found = Found::default();
    found.take_users(host, homes)?;
    let files = places::project_files(host, homes, path.parent().unwrap_or(path))?;
    for outer in files.into_iter().filter(|other| other != path) {
        let file = project_file(host, homes, &outer).map_err(perhaps_planted)?;
        found.take_projects(host, record, outer, file, &[]);
    }
    let between =
        Between { below: &found.layers, above: &[], backends: host.backends(), machine: host.machine() };
    Ok(between.admit(layer).ignored)
}

fn not_trusted(path: &Path, ignored: &[Entry]) -> String {
    let key = |entry: &Entry| match &entry.origin {
        Origin::File(_, at) => format!("{} (line {})", entry.key(), at.line),
        _ => entry.key(),
    };
    let keys: Vec<String> = ignored.iter().map(key).collect();
    format!(
        "{} is not trusted, and this in it would loosen the sandbox, so it does not count: {}; look at it, then say: \
         agentctl config trust {}",
        printable::path(path),
        keys.join(", "),
        shell_word(path)
    )
}
