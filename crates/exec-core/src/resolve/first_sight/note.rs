//! One note, as text: a line a fact, then the path to the end.

use std::path::{Path, PathBuf};

use crate::resolve::{FileId, os};

const HEAD: &str = "first sight 1";

/// What a directory held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) path: PathBuf,
    pub(super) id: FileId,
    /// Whether it had a `.git` that is a directory.
    pub(super) has_repository: bool,
    /// The files that its image was first built from, once there was a build.
    pub(super) build_files: Option<Vec<String>>,
}

impl Note {
    pub(super) fn of(path: &Path, id: FileId, has_repository: bool) -> Self {
        Self { path: path.to_owned(), id, has_repository, build_files: None }
    }

    pub(super) fn text(&self) -> Vec<u8> {
        let FileId { dev, ino, born } = self.id;
        let build =
            self.build_files.as_ref().map_or_else(|| "-".to_owned(), |files| format!("={}", files.join(" ")));
        let facts = format!("{HEAD}\n{dev} {ino} {born}\n{}\n{build}\n", self.has_repository);
        [facts.as_bytes(), self.path.as_os_str().as_encoded_bytes()].concat()
    }

    /// A note that can't be read is none.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = text.splitn(5, |byte| *byte == b'\n');
        let mut line = || std::str::from_utf8(parts.next()?).ok();
        if line()? != HEAD {
            return None;
        }
        let numbers: Vec<u64> = line()?.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [dev, ino, born] = numbers[..] else { return None };
        let has_repository = line()?.parse().ok()?;
        let build_files =
            line()?.strip_prefix('=').map(|names| names.split_whitespace().map(str::to_owned).collect());
        let path = os::path(parts.next()?);
        Some(Self { path, id: FileId { dev, ino, born }, has_repository, build_files })
    }
}

/// The name of a directory's note: FNV-1a over its path. Two paths with one name displace each other's notes; a note names its
/// path, so neither is taken for the other's.
pub(super) fn file_name(directory: &Path) -> String {
    let bytes = directory.as_os_str().as_encoded_bytes();
    let hash = |seed: u64| {
        bytes.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    };
    format!("{:016x}{:016x}", hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142))
}
