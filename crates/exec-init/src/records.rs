//! The host's records of a cell that is gone: of the cell, and of the runs in it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Removes records: each of these files, and those that begin with its name and a dot. A missing file is not
/// an error.
///
/// If the record of a run was left, the log of runs lacks the run's end. The next start adds it, unless a
/// note marks the log as checked. So the note is emptied, and only after the record is removed: a note
/// written in between is emptied as well.
pub(crate) fn remove(records: impl IntoIterator<Item = impl AsRef<[u8]>>, log_note: Option<&[u8]>) {
    let mut was_run_left = false;
    for record in records {
        let record = Path::new(OsStr::from_bytes(record.as_ref()));
        let _ = fs::remove_file(record);
        was_run_left |= remove_runs(record);
    }
    if let Some(note) = log_note.filter(|_| was_run_left) {
        // Without a note the log is checked anyway.
        let _ = fs::File::options().write(true).truncate(true).open(Path::new(OsStr::from_bytes(note)));
    }
}

/// Returns whether there was any run. A file that waits for a run has nothing after the dot.
fn remove_runs(record: &Path) -> bool {
    let (Some(directory), Some(cell)) = (record.parent(), record.file_name()) else { return false };
    let beginning = [cell.as_bytes(), b"."].concat();
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_name().as_bytes().starts_with(&beginning));
    files.fold(false, |was_any, file| {
        let is_run = file.file_name().len() > beginning.len();
        let is_removed = fs::remove_file(file.path()).is_ok();
        was_any || (is_run && is_removed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R15
    #[test]
    fn only_the_records_of_a_cell_and_its_runs_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        let remove = |cell: &str| {
            let records =
                ["cells", "runs"].map(|kind| file(kind).join(cell).into_os_string().into_encoded_bytes());
            super::remove(records, Some(file("note").as_os_str().as_bytes()));
        };
        for kind in ["cells", "runs"] {
            fs::create_dir(file(kind)).unwrap();
        }
        let all =
            ["cells/a-1", "cells/a-12", "runs/a-1.", "runs/a-1.r1", "runs/a-1.r2", "runs/a-12.r3", "note"];
        for name in all {
            fs::write(file(name), "x").unwrap();
        }
        let is_looked_at = || fs::read(file("note")).unwrap() == b"x";
        let left = || all.into_iter().filter(|name| file(name).exists()).collect::<Vec<_>>();
        remove("a-1");
        assert_eq!(left(), ["cells/a-12", "runs/a-12.r3", "note"]);
        assert!(!is_looked_at());
        for name in ["cells/a-1", "runs/a-1.", "note"] {
            fs::write(file(name), "x").unwrap();
        }
        remove("a-1");
        assert_eq!(left(), ["cells/a-12", "runs/a-12.r3", "note"]);
        assert!(is_looked_at(), "no run was lost");
    }
}
