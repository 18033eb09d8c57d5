//! Tar archives for engines. Reproducible: without times and owners, so that equal contents give equal bytes.

use std::io;

use tar::{Builder, EntryType, Header};

/// An archive under construction.
pub(crate) struct Archive(Builder<Vec<u8>>);

impl Archive {
    pub(crate) fn new() -> Self {
        Self(Builder::new(Vec::new()))
    }

    pub(crate) fn directory(&mut self, name: &str, mode: u32) -> io::Result<()> {
        self.0.append_data(&mut header(EntryType::Directory, mode, 0), name, io::empty())
    }

    pub(crate) fn link(&mut self, name: &str, to: &str) -> io::Result<()> {
        self.0.append_link(&mut header(EntryType::Symlink, 0o777, 0), name, to)
    }

    pub(crate) fn file(&mut self, name: &str, mode: u32, contents: &[u8]) -> io::Result<()> {
        self.0.append_data(&mut header(EntryType::Regular, mode, contents.len()), name, contents)
    }

    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        self.0.into_inner()
    }
}

fn header(kind: EntryType, mode: u32, size: usize) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size as u64);
    header
}
