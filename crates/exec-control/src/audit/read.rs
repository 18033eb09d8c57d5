//! Reads the log back, all of it or its tail.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use super::log::{KEPT, numbered, open};
use super::open_runs::Reading;
use crate::lock::{Lock, With};

/// How much of the tail is read.
const END: u64 = 1 << 20;

/// Our lines are far shorter.
const LONGEST: u64 = 1 << 20;

/// Longer than a rotation takes; a process stopped in the middle of one does not hold us up.
const TURN: Duration = Duration::from_secs(1);

/// How much of a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The tail of the current file, which takes no noticeable time.
    End,
    /// All kept files.
    All,
}

/// Reads the log at this path.
pub(super) fn read(path: &Path, extent: Extent) -> io::Result<Reading> {
    let mut reading = Reading::default();
    for mut file in files(path, extent)? {
        if extent == Extent::End {
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
        }
        each_line(&mut BufReader::new(file), |line| reading.line(line))?;
    }
    Ok(reading)
}

/// The files, oldest first. They are opened under the rotation lock, so that none is missed or seen twice.
fn files(path: &Path, extent: Extent) -> io::Result<Vec<File>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let _turn = turn(&numbered(path, "lock"))?;
    let aside = match extent {
        Extent::End => 0,
        Extent::All => KEPT,
    };
    let paths = (1..=aside).rev().map(|number| numbered(path, &number.to_string())).chain([path.to_owned()]);
    let opened = paths
        .map(File::open)
        .filter(|file| !matches!(file, Err(error) if error.kind() == io::ErrorKind::NotFound));
    opened.collect()
}

fn turn(lock: &Path) -> io::Result<Lock> {
    let held = Lock::take(open(lock)?, With::Readers, TURN)?;
    held.ok_or_else(|| {
        io::Error::new(io::ErrorKind::WouldBlock, "somebody puts it aside and does not finish")
    })
}

/// A line that is too long comes in pieces, none of which parses.
fn each_line(reader: &mut impl BufRead, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut line = Vec::new();
    while reader.by_ref().take(LONGEST).read_until(b'\n', &mut line)? > 0 {
        take(&line);
        line.clear();
    }
    Ok(())
}
