//! What a host wrote down of a cell that is gone: the cell, and the runs in it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Takes records away: each of these files, and what begins with its name and a dot. One that is gone already is as good.
///
/// The log of runs has no end of a run whose record was left. The next start closes it there, unless a note says that
/// the log has been gone through. So the note is emptied, and after the record: one that is made in between is emptied as well.
pub(crate) fn remove(records: impl IntoIterator<Item = impl AsRef<[u8]>>, log_note: Option<&[u8]>) {
    let mut was_run_left = false;
    for record in records {
        let record = Path::new(OsStr::from_bytes(record.as_ref()));
        let _ = fs::remove_file(record);
        was_run_left |= remove_runs(record);
    }
    if let Some(note) = log_note.filter(|_| was_run_left) {
        // Where there is none, the log is looked through anyway.
        let _ = fs::File::options().write(true).truncate(true).open(Path::new(OsStr::from_bytes(note)));
    }
}

/// Whether there was any. A file that waits for a run has nothing after the dot.
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
    fn records_of_a_cell_and_its_runs_go_and_no_others() {
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
