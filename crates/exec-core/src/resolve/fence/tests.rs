//! Fences in a workspace that changes before they are put up.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rstest::rstest;

use super::super::git::place::Place;
use super::*;
use crate::{Error, ErrorKind};

/// A repository without hooks or configuration, and the fences for those.
fn planned() -> (Place, Vec<Fence>) {
    let place = Place::new();
    fs::create_dir(place.path.join(".git")).unwrap();
    let fences = place.fences("", Access::ReadWrite);
    (place, fences)
}

fn put_up(fences: &[Fence]) -> Result<Vec<PlannedMount>> {
    fences.iter().map(Fence::put_up).collect()
}

fn refusal(fences: &[Fence]) -> Error {
    let error = put_up(fences).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.remedy().is_some(), "{error}");
    error
}

/// A13
#[test]
fn what_is_missing_is_made_and_mounted_read_only() {
    let (place, fences) = planned();
    assert_eq!(fs::read_dir(place.path.join(".git")).unwrap().count(), 0, "planning makes nothing");
    let mounts = put_up(&fences).unwrap();
    let made = fs::read_dir(place.path.join(".git")).unwrap().count();
    let read_only = mounts.iter().filter(|mount| mount.access == Access::ReadOnly);
    assert_eq!((made, read_only.clone().count()), (6, 6));
    for mount in read_only {
        assert_eq!(mount.id.ino, mount.source.symlink_metadata().unwrap().ino());
    }
    assert_eq!(put_up(&fences).unwrap(), mounts, "another run made them meanwhile");
    assert_eq!(put_up(&place.fences("", Access::ReadWrite)).unwrap(), mounts, "the same cell serves both");
}

/// A39: an entry that replaces a missing one and can't be kept is refused, and nothing is written to its target.
#[rstest]
#[case::link("config", |path: &Path| std::os::unix::fs::symlink("../elsewhere", path))]
#[case::link_for_a_directory("hooks", |path: &Path| std::os::unix::fs::symlink("../elsewhere", path))]
#[case::second_name("config", |path: &Path| fs::hard_link(path.with_file_name("../file"), path))]
#[case::directory_for_a_file("commondir", |path: &Path| fs::create_dir(path))]
#[case::file_for_a_directory("hooks", |path: &Path| fs::write(path, ""))]
fn what_has_taken_its_place_is_refused(#[case] name: &str, #[case] plant: fn(&Path) -> io::Result<()>) {
    let (place, fences) = planned();
    place.file("file", "");
    plant(&place.path.join(".git").join(name)).unwrap();
    assert!(refusal(&fences).to_string().contains(name));
    assert!(!place.path.join("elsewhere").exists());
}

/// A39: nothing is created in a directory that was not checked.
#[test]
fn another_directory_in_its_place_is_refused() {
    let (place, fences) = planned();
    fs::rename(place.path.join(".git"), place.path.join("old")).unwrap();
    fs::create_dir(place.path.join("other")).unwrap();
    place.link(".git", "other");
    refusal(&fences);
    fs::remove_file(place.path.join(".git")).unwrap();
    refusal(&fences);
    fs::rename(place.path.join("other"), place.path.join(".git")).unwrap();
    refusal(&fences);
    assert_eq!(fs::read_dir(place.path.join(".git")).unwrap().count(), 0);
}

/// A39: a directory that was closed to us after the plan was made. Nothing is closed to root.
#[test]
fn what_can_not_be_made_is_refused() {
    let (place, fences) = planned();
    let git = place.path.join(".git");
    fs::set_permissions(&git, fs::Permissions::from_mode(0o500)).unwrap();
    if Dir::open(&git).unwrap().is_writable() {
        return;
    }
    refusal(&fences);
    assert_eq!(place.planned("", Access::ReadWrite), [".git (ro)"], "planned again, it is not opened");
}
