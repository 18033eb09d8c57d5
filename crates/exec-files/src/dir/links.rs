//! Links that stay beneath a directory, for files that users do link within a project.
//!
//! The kernel follows none of them: each is read as text, and the lookup continues from the directory that
//! holds the link. The result is a path without links, which [`Dir`] opens like any other. A link that takes
//! its place in the meantime is refused there.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Dir, FileKind, plain};

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// More parts than a path has; links can multiply them.
const MOST_PARTS: usize = 4096;

impl Dir {
    /// The path without links. Relative links are followed as long as they stay beneath this directory.
    ///
    /// # Errors
    ///
    /// `NotFound` if the path, or a link on it, leads nowhere; `InvalidInput` if a link leads out of the
    /// directory or there are too many.
    pub fn behind_links(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let mut ahead: VecDeque<OsString> = plain(path.as_ref())?.iter().map(ToOwned::to_owned).collect();
        let (mut here, mut links, mut parts) = (PathBuf::new(), 0, 0);
        while let Some(part) = ahead.pop_front() {
            parts += 1;
            if parts > MOST_PARTS {
                return Err(refused("it is a link to too long a path"));
            }
            if part == ".." {
                if !here.pop() {
                    return Err(refused(LEADS_OUT));
                }
                continue;
            }
            let next = here.join(&part);
            if FileKind::of(&self.metadata(&next)?) != FileKind::Link {
                here = next;
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(refused("it leads over too many links"));
            }
            for part in Path::new(&self.link_target(&next)?).components().rev() {
                match part {
                    Component::Normal(_) | Component::ParentDir => {
                        ahead.push_front(part.as_os_str().to_owned());
                    }
                    Component::CurDir => {}
                    Component::RootDir | Component::Prefix(_) => {
                        return Err(refused("it is a link to an absolute path"));
                    }
                }
            }
        }
        // A link to the directory itself leaves nothing to open.
        plain(&here)?;
        Ok(here)
    }
}

const LEADS_OUT: &str = "it is a link that leads out";

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
