//! Keeping output within bounds: the head and the tail in memory, the count of what is missing exact, and
//! optionally the whole in a file.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{ByteSize, Error, ErrorKind, Result};

/// How much of each output stream is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Most bytes kept in memory per stream: half from the beginning, half from the end.
    pub cap: ByteSize,
    /// Also write every byte to a file in this directory.
    pub spill: Option<PathBuf>,
}

impl Default for Capture {
    fn default() -> Self {
        Self { cap: ByteSize::mib(1), spill: None }
    }
}

/// What was kept of one stream.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    head: Vec<u8>,
    tail: Vec<u8>,
    omitted: u64,
    spill: Option<Arc<tempfile::TempPath>>,
}

impl Captured {
    /// All that was written, if nothing was left out; else the beginning and the end with nothing between.
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

    /// The end, if something between was left out or the stream was longer than the head.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// Bytes between head and tail that were not kept.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Bytes the command wrote.
    pub fn total(&self) -> u64 {
        self.omitted + (self.head.len() + self.tail.len()) as u64
    }

    /// As text; what is not UTF-8 is replaced, what was left out is marked.
    pub fn text(&self) -> String {
        if self.omitted == 0 {
            return String::from_utf8_lossy(&self.bytes()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        format!("{head}\n[… {} bytes omitted …]\n{tail}", self.omitted)
    }

    /// The file with every byte, if one was asked for. It is removed with the last copy of this value.
    pub fn spill_path(&self) -> Option<&Path> {
        self.spill.as_deref().map(|path| &**path)
    }
}

/// Takes a stream in pieces of any size, in memory bounded by the cap.
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
    /// Keeps as much as `capture` says.
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

    /// Takes the next piece.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some((file, path)) = &mut self.spill {
            file.write_all(bytes).map_err(|error| spill_error("write", path, error))?;
        }
        let (to_head, rest) = bytes.split_at(bytes.len().min(self.head_cap - self.head.len()));
        self.head.extend_from_slice(to_head);
        // Of a piece longer than the tail only its end can stay.
        let (passed, kept) = rest.split_at(rest.len().saturating_sub(self.tail_cap));
        let overflow = (self.tail.len() + kept.len()).saturating_sub(self.tail_cap);
        self.tail.drain(..overflow);
        self.tail.extend(kept);
        self.omitted += (passed.len() + overflow) as u64;
        Ok(())
    }

    /// What was kept.
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
        .with_remedy("check that the spill directory exists, is writable and has room")
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
