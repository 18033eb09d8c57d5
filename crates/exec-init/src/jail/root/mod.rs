//! The cell's file system: built next to the host's, step by step, then put in its place.
//!
//! Everything goes by descriptor through the new mount interface, so no path is looked up twice and a mount
//! has its restrictions before it is visible. The new root lies on top of the old one while it is built:
//! lookups from the old root don't notice, so a target never hides a source.

mod attach;
mod bind;
mod cover;
mod dev;
mod place;
mod proc;

use exec_wire::{Identity, Mount};
use rustix::fs::{CWD, symlinkat};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{chdir, fchdir, pivot_root};

use super::fail::{Fail, show};
use attach::{Depth, NewFs, READ_ONLY, SAFE};
use cover::{Covers, Null};
use place::Root;

/// How often a file to be masked may be replaced while it is being covered.
const MOST_REPLACEMENTS: usize = 100;

/// Builds the mounts in order on an empty root, makes it read-only and moves into it irrevocably.
pub(super) fn build(mounts: &[Mount], identity: &Identity) -> Result<(), Fail> {
    attach::make_private().map_err(|why| Fail::wall("make private", "all mounts", why))?;
    let top = NewFs::tmpfs(1 << 20, 0o755)
        .and_then(|fs| fs.mount(SAFE))
        .map_err(|why| Fail::wall("mount", "a tmpfs as the cell's root", why))?;
    attach::over(&top, CWD, "/").map_err(|why| Fail::wall("mount", "the cell's root", why))?;
    let mut builder = Builder { root: Root::new(top, identity), covers: Covers::default() };
    for mount in mounts {
        builder.step(mount, identity)?;
    }
    enter(&builder.root)
}

/// The root so far, and what several steps share.
struct Builder {
    root: Root,
    covers: Covers,
}

impl Builder {
    fn step(&mut self, mount: &Mount, identity: &Identity) -> Result<(), Fail> {
        match mount {
            Mount::Bind { target, .. } | Mount::Tmpfs { target, .. }
                if target.iter().all(|byte| *byte == b'/') =>
            {
                // It would be hidden beneath the cell's own root.
                Err(Fail::new("mount", show(target), "the root is not a target"))
            }
            Mount::Bind { source, target, access, expect, missing } => bind::bind(
                &self.root,
                &bind::Source { path: source, expect: *expect, missing: *missing },
                target,
                *access,
            ),
            Mount::Tmpfs { target, size, mode } => {
                let point = self.root.directory(target)?;
                NewFs::tmpfs(*size, *mode)
                    .and_then(|fs| fs.owner(identity.uid, identity.gid)?.mount(SAFE))
                    .and_then(|fs| attach::over(&fs, &point, ""))
                    .map_err(|why| Fail::new("mount tmpfs", show(target), why))
            }
            Mount::Proc => proc::mount(self, identity),
            Mount::Dev { shm_size } => dev::mount(&self.root, *shm_size),
            Mount::Mask { target } => self.mask(target),
            Mount::Symlink { target, to } => self.symlink(target, to),
            Mount::File { target, contents } => self.file(target, contents),
        }
    }

    fn symlink(&self, target: &[u8], to: &[u8]) -> Result<(), Fail> {
        let (parent, name) = self.root.parent(target)?;
        match symlinkat(to, &parent, name) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST)
                if rustix::fs::readlinkat(&parent, name, Vec::new())
                    .is_ok_and(|old| old.as_bytes() == to) =>
            {
                Ok(())
            }
            Err(why) => Err(Fail::new("symlink", show(target), why)),
        }
    }

    /// Never opens an existing file: below a writable bind that would be the host's.
    fn file(&self, target: &[u8], contents: &[u8]) -> Result<(), Fail> {
        let file = self.root.new_file(target)?;
        let mut rest = contents;
        while !rest.is_empty() {
            match rustix::io::write(&file, rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(why) => return Err(Fail::new("write", show(target), why)),
            }
        }
        Ok(())
    }

    /// A program that replaces a file writes a new one and renames it. Then the file that was found is gone before it is
    /// covered, and the one in its place has to be covered instead.
    fn mask(&mut self, target: &[u8]) -> Result<(), Fail> {
        let fail = |why| Fail::new("mask", show(target), why);
        for _ in 0..MOST_REPLACEMENTS {
            let point = match self.root.find(target) {
                Ok(point) => point,
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
                Err(why) => return Err(fail(why)),
            };
            match self.covers.put(&point, Null::Unreadable) {
                Err(Errno::NOENT) => {}
                done => return done.map_err(fail),
            }
        }
        Err(fail(Errno::NOENT))
    }
}

/// Makes the new root the only one. The old one is detached whole: no name and no open descriptor leads to it
/// any more.
fn enter(root: &Root) -> Result<(), Fail> {
    let fail = |what: &'static str| move |why: Errno| Fail::wall(what, "the cell's root", why);
    attach::restrict(root, READ_ONLY, Depth::One).map_err(fail("make read-only"))?;
    fchdir(root).map_err(fail("enter"))?;
    pivot_root(".", ".").map_err(fail("pivot to"))?;
    // The old root now lies on top of the new one, which is where we stand.
    unmount(".", UnmountFlags::DETACH).map_err(fail("take the old root off"))?;
    chdir("/").map_err(fail("enter"))
}
