//! Bounded output capture: head and tail in memory, an exact count of the omitted bytes and, optionally, everything in a
//! file.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{ByteSize, Error, ErrorKind, Remedy, Result};

/// How much of each output stream is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// The most bytes kept in memory per stream: half from the beginning, half from the end.
    pub cap: ByteSize,
    /// Also write every byte to a file in this directory.
    pub spill: Option<PathBuf>,
}

impl Default for Capture {
    fn default() -> Self {
        Self { cap: ByteSize::mib(1), spill: None }
    }
}

/// The kept output of one stream.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    head: Vec<u8>,
    tail: Vec<u8>,
    omitted: u64,
    spill: Option<Arc<tempfile::TempPath>>,
}

impl Captured {
    /// All output if nothing was omitted; otherwise the beginning and the end, joined.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        if self.tail.is_empty() {
            Cow::Borrowed(&self.head)
        } else {
            Cow::Owned([&*self.head, &*self.tail].concat())
        }
    }

    /// The beginning.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The end, if the stream was longer than the head.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// The number of bytes omitted between head and tail.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// The number of bytes that the command wrote.
    pub fn total(&self) -> u64 {
        self.omitted + (self.head.len() + self.tail.len()) as u64
    }

    /// The output as text. Invalid UTF-8 is replaced, and omitted bytes are marked.
    pub fn text(&self) -> String {
        if self.omitted == 0 {
            return String::from_utf8_lossy(&self.bytes()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        format!("{head}\n[… {} bytes omitted …]\n{tail}", self.omitted)
    }

    /// The file with every byte, if one was requested. It is removed with the last clone of this value.
    pub fn spill_path(&self) -> Option<&Path> {
        self.spill.as_deref().map(|path| &**path)
    }
}

/// Collects a stream in pieces of any size, with memory bounded by the cap.
///
/// # Examples
///
/// ```
/// use exec_core::{ByteSize, Capture, Collector};
///
/// let mut collector = Collector::new(&Capture { cap: ByteSize::bytes(4), spill: None })?;
/// collector.push(b"0123456789")?;
/// let captured = collector.finish();
/// assert_eq!((captured.head(), captured.tail()), (&b"01"[..], &b"89"[..]));
/// assert_eq!((captured.omitted(), captured.total()), (6, 10));
/// # Ok::<(), exec_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Collector {
    head: Vec<u8>,
    head_cap: usize,
    tail: VecDeque<u8>,
    tail_cap: usize,
    omitted: u64,
    spill: Option<(File, tempfile::TempPath)>,
}

impl Collector {
    /// A collector with these bounds.
    ///
    /// # Errors
    ///
    /// `Io` if no file can be created in the spill directory.
    pub fn new(capture: &Capture) -> Result<Self> {
        let cap = usize::try_from(capture.cap.get()).unwrap_or(usize::MAX);
        let spill = capture.spill.as_deref().map(open_spill).transpose()?;
        Ok(Self {
            head: Vec::new(),
            head_cap: cap.div_ceil(2),
            tail: VecDeque::new(),
            tail_cap: cap / 2,
            omitted: 0,
            spill,
        })
    }

    /// Adds the next piece.
    ///
    /// # Errors
    ///
    /// `Io` if the spill file can't be written.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some((file, path)) = &mut self.spill {
            file.write_all(bytes).map_err(|error| spill_error("write", path, error))?;
        }
        let (to_head, rest) = bytes.split_at(bytes.len().min(self.head_cap - self.head.len()));
        self.head.extend_from_slice(to_head);
        // Only the end of a piece longer than the tail can stay.
        let (passed, kept) = rest.split_at(rest.len().saturating_sub(self.tail_cap));
        let overflow = (self.tail.len() + kept.len()).saturating_sub(self.tail_cap);
        self.tail.drain(..overflow);
        self.tail.extend(kept);
        self.omitted += (passed.len() + overflow) as u64;
        Ok(())
    }

    /// Returns the kept output.
    pub fn finish(self) -> Captured {
        Captured {
            head: self.head,
            tail: self.tail.into(),
            omitted: self.omitted,
            spill: self.spill.map(|(_, path)| Arc::new(path)),
        }
    }
}

fn open_spill(dir: &Path) -> Result<(File, tempfile::TempPath)> {
    tempfile::Builder::new()
        .prefix("output-")
        .tempfile_in(dir)
        .map(tempfile::NamedTempFile::into_parts)
        .map_err(|error| spill_error("create a file for", dir, error))
}

fn spill_error(verb: &str, path: &Path, error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, "capture", format!("can't {verb} the output"))
        .with_context("path", path.display())
        .with_remedy(Remedy::host("check that the spill directory exists, is writable and has room"))
        .with_source(error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect(pieces: &[Vec<u8>], cap: u64) -> Captured {
        let mut collector = Collector::new(&Capture { cap: ByteSize::bytes(cap), spill: None }).unwrap();
        for piece in pieces {
            collector.push(piece).unwrap();
        }
        collector.finish()
    }

    proptest! {
        /// R3: however the output is cut into pieces, head and tail are its ends and the count is exact.
        #[test]
        fn head_and_tail_are_the_ends(pieces: Vec<Vec<u8>>, cap in 0u64..200) {
            let all = pieces.concat();
            let captured = collect(&pieces, cap);
            prop_assert_eq!(captured.total(), all.len() as u64);
            prop_assert!(all.starts_with(captured.head()) && all.ends_with(captured.tail()));
            prop_assert!((captured.head().len() + captured.tail().len()) as u64 <= cap);
            if all.len() as u64 <= cap {
                prop_assert_eq!(captured.bytes().into_owned(), all);
            }
        }
    }

    #[test]
    fn the_spill_file_has_everything_and_goes_with_the_value() {
        let dir = tempfile::tempdir().unwrap();
        let capture = Capture { cap: ByteSize::bytes(4), spill: Some(dir.path().into()) };
        let mut collector = Collector::new(&capture).unwrap();
        collector.push(b"0123456789").unwrap();
        let captured = collector.finish();
        let path = captured.spill_path().unwrap().to_owned();
        assert_eq!(std::fs::read(&path).unwrap(), b"0123456789");
        assert_eq!(captured.text(), "01\n[… 6 bytes omitted …]\n89");
        drop(captured);
        assert!(!path.exists());
    }
}
