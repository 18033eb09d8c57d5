//! The named pipes that a killed host left in its directory for lanes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use exec_wire::reaper::Directory;
use exec_wire::{LANE_IN, LANE_OUT};

/// Removes lanes and their directory. Files that do not look like a lane stay, and with them the directory.
pub(super) fn clear(directory: &Directory) {
    let directory = Path::new(OsStr::from_bytes(directory.as_bytes()));
    for lane in fs::read_dir(directory).into_iter().flatten().flatten() {
        for pipe in [LANE_IN, LANE_OUT] {
            let _ = fs::remove_file(lane.path().join(pipe));
        }
        let _ = fs::remove_dir(lane.path());
    }
    let _ = fs::remove_dir(directory);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_removed_and_other_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let lanes = dir.path().join("lanes");
        let clear = || super::clear(&Directory::new(lanes.as_os_str().as_bytes()).unwrap());
        let lane = lanes.join("1");
        fs::create_dir_all(&lane).unwrap();
        for name in [LANE_IN, LANE_OUT] {
            fs::write(lane.join(name), "").unwrap();
        }
        let stranger = lanes.join("2");
        fs::create_dir(&stranger).unwrap();
        fs::write(stranger.join("work"), "").unwrap();
        clear();
        assert!(!lane.exists());
        assert!(stranger.join("work").exists());
        fs::remove_file(stranger.join("work")).unwrap();
        clear();
        assert!(!lanes.exists());
    }
}
