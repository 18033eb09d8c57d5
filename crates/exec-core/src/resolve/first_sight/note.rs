//! One note as text: one fact per line, then the path to the end.

use std::path::{Path, PathBuf};

use super::Keeps;
use crate::resolve::{FileId, os};

const HEAD: &str = "first sight 2";

/// Begins the line about the repository of a directory that was a linked worktree.
const WORKTREE: &str = "worktree ";

const WORDS: [(Keeps, &str); 3] =
    [(Keeps::Nothing, "nothing"), (Keeps::ItsRepository, "repository"), (Keeps::ItsOrders, "orders")];

/// The facts about a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) path: PathBuf,
    pub(super) id: FileId,
    pub(super) keeps: Keeps,
    /// The repository it was a linked worktree of, as [`file_name`] of its path.
    pub(super) worktree_of: Option<String>,
    /// The files an image could be built from.
    pub(super) build_files: Vec<String>,
}

impl Note {
    /// Whether it is about this very directory. After a reboot, a file system may have another device number.
    pub(super) fn is_about(&self, directory: &Path, id: FileId) -> bool {
        let is_same =
            |note: FileId| note == id || (note.born != 0 && (note.ino, note.born) == (id.ino, id.born));
        self.path == directory && is_same(self.id)
    }

    pub(super) fn text(&self) -> Vec<u8> {
        let FileId { dev, ino, born } = self.id;
        let keeps = WORDS.iter().find(|(keeps, _)| *keeps == self.keeps).map_or("nothing", |(_, word)| *word);
        let kind = self.worktree_of.as_ref().map_or_else(String::new, |name| format!("{WORKTREE}{name}"));
        let files = self.build_files.join(" ");
        let facts = format!("{HEAD}\n{dev} {ino} {born}\n{keeps}\n{kind}\n{files}\n");
        [facts.as_bytes(), self.path.as_os_str().as_encoded_bytes()].concat()
    }

    /// Parses a note; an invalid one counts as missing.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = text.splitn(6, |byte| *byte == b'\n');
        let mut line = || std::str::from_utf8(parts.next()?).ok();
        if line()? != HEAD {
            return None;
        }
        let numbers: Vec<u64> = line()?.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [dev, ino, born] = numbers[..] else { return None };
        let word = line()?;
        let keeps = WORDS.iter().find(|(_, known)| *known == word).map(|(keeps, _)| *keeps)?;
        let worktree_of = line()?.strip_prefix(WORKTREE).map(str::to_owned);
        let build_files = line()?.split_whitespace().map(str::to_owned).collect();
        let path = os::path(parts.next()?);
        Some(Self { path, id: FileId { dev, ino, born }, keeps, worktree_of, build_files })
    }
}

/// The name of a directory in notes: FNV-1a over its path. Paths with equal hashes overwrite each other's notes; a note
/// contains its path, so it is never mistaken for the other's.
pub(super) fn file_name(directory: &Path) -> String {
    let bytes = directory.as_os_str().as_encoded_bytes();
    let hash = |seed: u64| {
        bytes.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    };
    format!("{:016x}{:016x}", hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142))
}
