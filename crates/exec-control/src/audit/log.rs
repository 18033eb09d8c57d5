//! The log file. Each line is one write to a file opened for appending, so that lines of several processes never
//! interleave.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_files::AUDIT_FILE_VARIABLE;
use serde::Serialize;

use super::line::{EndLine, StartLine};
use super::{AUDIT_VARIABLE, AuditFile, Extent, Reading, read};

/// How many rotated logs are kept.
pub(super) const KEPT: u32 = 4;

/// How often a line is tried while its file keeps being deleted, before that is an error.
const ATTEMPTS: usize = 3;

/// A write in progress usually finishes within this time, in a file whose times can't be changed.
const A_WRITE: Duration = Duration::from_millis(5);

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is in the log, or in a rotated log that is kept.
    Kept,
    /// The file was the oldest rotated log by then and has been deleted.
    Gone,
}

/// What happens if a line can't be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rigour {
    BestEffort,
    Required,
}

/// A log that can be written to. Clones share one descriptor.
#[derive(Debug, Clone)]
pub(crate) struct AuditLog(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    at: AuditFile,
    rigour: Rigour,
    file: Mutex<Option<File>>,
}

impl AuditLog {
    pub(crate) fn new(at: AuditFile, rigour: Rigour) -> Self {
        Self(Arc::new(Shared { at, rigour, file: Mutex::default() }))
    }

    /// The log's path, if it has one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.0.at.path.as_deref()
    }

    /// Logs the start of a run. On an error the run must not start.
    pub(crate) fn start(&self, line: &StartLine<'_>) -> Result<()> {
        match (self.write(line), self.0.rigour) {
            (Ok(()), _) => Ok(()),
            (Err(error), Rigour::Required) => Err(self.refuse(error)),
            (Err(error), Rigour::BestEffort) => {
                tracing::warn!(%error, path = ?self.0.at.path, "a run is not in the audit log");
                Ok(())
            }
        }
    }

    /// Logs the end of a run. Failures are only logged: the run is over in any case.
    pub(crate) fn end(&self, line: &EndLine<'_>) {
        if let Err(error) = self.write(line) {
            tracing::warn!(%error, path = ?self.0.at.path, "the end of a run is not in the audit log");
        }
    }

    /// Reads the log back.
    pub(crate) fn read(&self, extent: Extent) -> io::Result<Reading> {
        read::read(self.path()?, extent)
    }

    fn write(&self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let path = self.path()?;
        let mut held = self.0.file.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..ATTEMPTS {
            let fate = current(&mut held, path, self.0.at.size).and_then(|file| append(file, &text));
            if let Ok(Fate::Kept) = fate {
                return Ok(());
            }
            *held = None;
            fate?;
        }
        Err(io::Error::new(
            io::ErrorKind::WouldBlock,
            "others put the log aside faster than it can be written",
        ))
    }

    fn path(&self) -> io::Result<&Path> {
        self.file()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "neither HOME nor XDG_STATE_HOME is set"))
    }

    fn refuse(&self, error: io::Error) -> Error {
        let at = self.0.at.path.as_ref().map_or_else(String::new, |path| format!(" `{}`", path.display()));
        Error::new(
            ErrorKind::AuditFailed,
            "start",
            format!("the audit log{at} can't be written, and nothing runs without it"),
        )
        .with_source(error)
        .with_remedy(
            Remedy::host("make room or the file writable")
                .or(Remedy::host(format!("name another with {AUDIT_FILE_VARIABLE}")))
                .or(Remedy::host(format!("set {AUDIT_VARIABLE}=on to run without it"))),
        )
    }
}

/// Writes one line with a single write.
///
/// Another process may have rotated the file since it was opened. A line in a rotated file that is kept is as good,
/// so only a deleted file counts as a failure.
fn append(file: &mut File, text: &[u8]) -> io::Result<Fate> {
    // A disk that was full may have cut off the last line; ours must not become its continuation.
    let text = if is_broken_off(file) { [b"\n", text].concat().into() } else { Cow::Borrowed(text) };
    if file.write(&text)? < text.len() {
        return Err(io::ErrorKind::StorageFull.into());
    }
    Ok(if has_name(file) { Fate::Kept } else { Fate::Gone })
}

/// Whether the last line is incomplete and no process is still writing it.
fn is_broken_off(file: &File) -> bool {
    let Some(length) = length_without_end(file) else { return false };
    await_write(file);
    length_without_end(file) == Some(length)
}

/// Waits for a write in progress. The kernel holds the same lock while it changes a file's times, so this returns after the
/// write however long its process is kept from running.
fn await_write(file: &File) {
    if file.set_modified(SystemTime::now()).is_err() {
        std::thread::sleep(A_WRITE);
    }
}

/// The length of the file if its last line is incomplete. A file that can't be read counts as complete.
#[cfg(unix)]
fn length_without_end(file: &File) -> Option<u64> {
    use std::os::unix::fs::FileExt;
    let mut last = *b"\n";
    let length = file.metadata().ok()?.len();
    file.read_exact_at(&mut last, length.checked_sub(1)?).ok()?;
    (last != *b"\n").then_some(length)
}

/// A cut-off last line is not detected on this platform.
#[cfg(not(unix))]
fn length_without_end(_: &File) -> Option<u64> {
    None
}

#[cfg(unix)]
fn has_name(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|file| file.nlink() > 0)
}

/// An open file keeps its name on this platform.
#[cfg(not(unix))]
fn has_name(_: &File) -> bool {
    true
}

/// The file to write to now: another process may have rotated the old one.
fn current<'a>(held: &'a mut Option<File>, path: &Path, size: u64) -> io::Result<&'a mut File> {
    if held.as_ref().is_some_and(|file| !is_at(file, path)) {
        *held = None;
    }
    if held.is_none() {
        *held = Some(open(path)?);
    }
    if held.as_ref().is_some_and(|file| file.metadata().is_ok_and(|file| file.len() >= size)) {
        put_aside(path, size)?;
        *held = Some(open(path)?);
    }
    held.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
}

pub(super) fn open(path: &Path) -> io::Result<File> {
    let open = |readable| {
        let mut options = OpenOptions::new();
        options.read(readable).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    };
    match open(true) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
            open(true)
        }
        // The writers of a log may not be allowed to read it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => open(false),
        other => other,
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |found: fs::Metadata| (found.dev(), found.ino());
    matches!((file.metadata().map(id), fs::metadata(path).map(id)), (Ok(held), Ok(there)) if held == there)
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Rotates the log: `audit.jsonl` becomes `audit.jsonl.1`, `.1` becomes `.2`, and the oldest is deleted.
fn put_aside(path: &Path, size: u64) -> io::Result<()> {
    let lock = open(&numbered(path, "lock"))?;
    #[cfg(unix)]
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
    // The previous holder of the lock may have rotated the log already.
    if fs::metadata(path).is_ok_and(|file| file.len() >= size) {
        for number in (1..KEPT).rev() {
            let _ =
                fs::rename(numbered(path, &number.to_string()), numbered(path, &(number + 1).to_string()));
        }
        fs::rename(path, numbered(path, "1"))?;
    }
    drop(lock);
    Ok(())
}

pub(super) fn numbered(path: &Path, number: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(number);
    name.into()
}

#[cfg(test)]
mod tests;
