//! The named pipes that a killed host left in its directory for FIFO channels.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use exec_wire::reaper::Directory;
use exec_wire::{FIFO_IN, FIFO_OUT};

/// Removes FIFO channels and their directory. Files that do not look like a FIFO channel stay, and with them the directory.
pub(super) fn clear(directory: &Directory) {
    let directory = Path::new(OsStr::from_bytes(directory.as_bytes()));
    for fifo_channel in fs::read_dir(directory).into_iter().flatten().flatten() {
        for pipe in [FIFO_IN, FIFO_OUT] {
            let _ = fs::remove_file(fifo_channel.path().join(pipe));
        }
        let _ = fs::remove_dir(fifo_channel.path());
    }
    let _ = fs::remove_dir(directory);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_removed_and_other_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let fifo_channels = dir.path().join("lanes");
        let clear = || super::clear(&Directory::new(fifo_channels.as_os_str().as_bytes()).unwrap());
        let fifo_channel = fifo_channels.join("1");
        fs::create_dir_all(&fifo_channel).unwrap();
        for name in [FIFO_IN, FIFO_OUT] {
            fs::write(fifo_channel.join(name), "").unwrap();
        }
        let stranger = fifo_channels.join("2");
        fs::create_dir(&stranger).unwrap();
        fs::write(stranger.join("work"), "").unwrap();
        clear();
        assert!(!fifo_channel.exists());
        assert!(stranger.join("work").exists());
        fs::remove_file(stranger.join("work")).unwrap();
        clear();
        assert!(!fifo_channels.exists());
    }
}
