//! PID 1 of a container: checks what the engine built, then serves.

use exec_wire::{ContainerPlan, Expected, Fatal, ToCell};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::cell::{Config, KillScope};
use crate::cgroup::Cgroup;
use crate::{fifo_channel, identity, preface};

/// Reads the plan from standard input, checks it, and serves.
pub(crate) fn run() -> ! {
    match read_plan().map_err(Fatal::Other).and_then(|plan| check(&plan.expect).map(|()| plan)) {
        Ok(plan) => crate::cell::serve(Config {
            fifo_channel: plan.fifo_channel.then(fifo_channel::take).flatten(),
            landlock: plan.landlock,
            cgroup: Cgroup::discover(),
            notes: Vec::new(),
            kill_scope: KillScope::of_this_process(),
            home: None,
        }),
        Err(why) => {
            preface::send_fatal(why);
            crate::sys::exit_now(1)
        }
    }
}

fn read_plan() -> Result<ContainerPlan, String> {
    let (header, payload) = preface::read_frame()?;
    match ToCell::decode(&header, &payload).map_err(|error| error.to_string())? {
        ToCell::Container(plan) => Ok(*plan),
        _ => Err("another frame came before the plan".into()),
    }
}

fn check(expected: &[Expected]) -> Result<(), Fatal> {
    expected.iter().try_for_each(|expected| {
        let path = || String::from_utf8_lossy(&expected.target).into_owned();
        match is_there(expected) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Fatal::MountMismatch { path: path(), why: None }),
            Err(why) => Err(Fatal::MountMismatch { path: path(), why: Some(why.to_string()) }),
        }
    })
}

/// Does not follow a link in the last place: a mount never is one.
fn is_there(expected: &Expected) -> Result<bool, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(expected.target.as_slice(), flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    Ok(identity::is(&file, &stat, expected.id))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::path::Path;

    use exec_wire::FileId;

    use super::*;

    fn expected(path: &Path, id: FileId) -> [Expected; 1] {
        [Expected { target: path.as_os_str().as_bytes().to_vec(), id }]
    }

    /// A4
    #[test]
    fn only_the_very_file_that_was_meant_will_do() {
        let dir = tempfile::tempdir().unwrap();
        let metadata = dir.path().metadata().unwrap();
        let id = FileId { dev: metadata.dev(), ino: metadata.ino(), born: 0 };
        assert_eq!(check(&expected(dir.path(), id)), Ok(()));
        let other = FileId { ino: id.ino + 1, ..id };
        let path = dir.path().display().to_string();
        assert_eq!(check(&expected(dir.path(), other)), Err(Fatal::MountMismatch { path, why: None }));
        let link = dir.path().join("link");
        symlink(dir.path(), &link).unwrap();
        assert!(check(&expected(&link, id)).is_err(), "a link to it is not it");
        let none = check(&expected(&dir.path().join("none"), id)).unwrap_err();
        assert!(matches!(&none, Fatal::MountMismatch { why: Some(_), .. }), "{none}");
    }
}
