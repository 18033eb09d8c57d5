//! A hostile directory, and how our calls treat it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use rstest::rstest;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::*;

/// A workspace with an entry of every kind, and a directory beside it that must stay unchanged.
struct Place {
    _dir: TempDir,
    outside: PathBuf,
    path: PathBuf,
    dir: Dir,
}

fn place() -> Place {
    let made = tempfile::tempdir().unwrap();
    let root = made.path().canonicalize().unwrap();
    let (path, outside) = (root.join("workspace"), root.join("outside"));
    for directory in [&path, &outside] {
        fs::create_dir(directory).unwrap();
    }
    fs::create_dir_all(path.join("real/inner")).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::write(path.join("file"), "hello").unwrap();
    fs::write(path.join("real/inner/file"), "below").unwrap();
    symlink(outside.join("secret"), path.join("link")).unwrap();
    symlink("file", path.join("near")).unwrap();
    symlink(outside.join("new"), path.join("dangling")).unwrap();
    symlink(&outside, path.join("way")).unwrap();
    symlink("/dev/zero", path.join("device")).unwrap();
    mknodat(CWD, path.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    UnixListener::bind(path.join("socket")).unwrap();
    fs::File::create(path.join("sparse")).unwrap().set_len(10 << 30).unwrap();
    let dir = Dir::open(&path).unwrap();
    Place { _dir: made, outside, path, dir }
}

impl Place {
    fn outside_is_unchanged(&self) {
        let names: Vec<_> =
            fs::read_dir(&self.outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["secret"]);
        assert_eq!(fs::read_to_string(self.outside.join("secret")).unwrap(), "secret");
    }
}

/// A3, A43: only regular files beneath the directory are read, and only up to the bound.
#[rstest]
#[case::plain("file", Some("hello"))]
#[case::below("real/inner/file", Some("below"))]
#[case::link("link", None)]
#[case::link_beside("near", None)]
#[case::dangling("dangling", None)]
#[case::through_a_link("way/secret", None)]
#[case::device("device", None)]
#[case::pipe("pipe", None)]
#[case::socket("socket", None)]
#[case::directory("real", None)]
#[case::huge("sparse", None)]
#[case::up("../outside/secret", None)]
#[case::absolute("/etc/passwd", None)]
#[case::nothing("", None)]
#[case::nul("file\0", None)]
fn reading(#[case] path: &str, #[case] expected: Option<&str>) {
    let read = place().dir.read(path, 100);
    assert_eq!(read.as_deref().ok(), expected.map(str::as_bytes), "{read:?}");
}

#[test]
fn a_file_of_the_largest_size_is_read_and_a_longer_one_is_not() {
    let place = place();
    assert_eq!(place.dir.read("file", 5).unwrap(), b"hello");
    assert_eq!(place.dir.read("file", 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
}

/// A43: a planted entry is replaced, and nothing is written through it.
#[rstest]
fn replacing(#[values("file", "link", "dangling", "near", "pipe", "socket", "device", "new")] name: &str) {
    let place = place();
    place.dir.replace(name, 0o640, b"ours").unwrap();
    let found = fs::symlink_metadata(place.path.join(name)).unwrap();
    assert!(found.is_file());
    assert_eq!(found.permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read(place.path.join(name)).unwrap(), b"ours");
    if name == "near" {
        assert_eq!(fs::read(place.path.join("file")).unwrap(), b"hello");
    }
    place.outside_is_unchanged();
}

#[rstest]
fn replacing_leaves_no_draft(#[values("real", "way/new", "missing/new")] name: &str) {
    let place = place();
    let before = fs::read_dir(&place.path).unwrap().count();
    place.dir.replace(name, 0o644, b"ours").unwrap_err();
    assert_eq!(fs::read_dir(&place.path).unwrap().count(), before);
    place.outside_is_unchanged();
}

/// A43: new means new.
#[rstest]
fn creating(#[values("file", "link", "dangling", "pipe", "socket", "real", "way/new")] name: &str) {
    let place = place();
    place.dir.create(name, 0o644, b"ours").unwrap_err();
    place.outside_is_unchanged();
    assert!(place.dir.make_dir(name, 0o755).is_err());
    place.outside_is_unchanged();
}

#[rstest]
fn appending_goes_to_regular_files_only(
    #[values("link", "near", "dangling", "pipe", "socket", "device", "real")] name: &str,
) {
    let place = place();
    assert!(place.dir.append(name, 0o600).is_err(), "{name}");
    assert!(place.dir.append_existing(name).is_err(), "{name}");
    place.outside_is_unchanged();
}

#[test]
fn entry_kinds_are_recognised() {
    let place = place();
    let kind = |path: &str| place.dir.metadata(path).map(|found| FileKind::of(&found)).ok();
    assert_eq!(kind("file"), Some(FileKind::File));
    assert_eq!(kind("real/inner"), Some(FileKind::Directory));
    assert_eq!(kind("dangling"), Some(FileKind::Link));
    assert_eq!(kind("pipe"), Some(FileKind::Special));
    assert_eq!(kind("way/secret"), None);
    assert_eq!(kind("missing"), None);
    let seen: Vec<_> =
        place.dir.entries(100).unwrap().into_iter().map(|entry| (entry.name, entry.kind)).collect();
    let expected: Vec<(OsString, _)> = [
        ("dangling", FileKind::Link),
        ("device", FileKind::Link),
        ("file", FileKind::File),
        ("link", FileKind::Link),
        ("near", FileKind::Link),
        ("pipe", FileKind::Special),
        ("real", FileKind::Directory),
        ("socket", FileKind::Special),
        ("sparse", FileKind::File),
        ("way", FileKind::Link),
    ]
    .map(|(name, kind)| (name.into(), kind))
    .into();
    assert_eq!(seen, expected);
    assert_eq!(place.dir.entries(3).unwrap().len(), 3);
    assert_eq!(place.dir.link_target("near").unwrap(), "file");
}

/// A4: the directory is held by its descriptor, so a replaced path leads nowhere new.
/// Whatever the mode means to this user.
#[rstest]
fn a_directory_is_writable_where_entries_can_be_made(#[values(0o700, 0o500, 0o600, 0o300)] mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().canonicalize().unwrap().join("dir");
    std::fs::create_dir(&path).unwrap();
    let dir = Dir::open(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(dir.is_writable(), dir.create_file("new", 0o600).is_ok());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_directory_stays_the_one_that_was_opened() {
    let place = place();
    let inner = place.dir.dir("real/inner").unwrap();
    fs::rename(place.path.join("real"), place.path.join("moved")).unwrap();
    symlink(&place.outside, place.path.join("real")).unwrap();
    inner.replace("file", 0o644, b"ours").unwrap();
    assert_eq!(fs::read(place.path.join("moved/inner/file")).unwrap(), b"ours");
    assert!(place.dir.dir("real").is_err());
    assert!(Dir::open(&place.path.join("way")).is_err());
    place.outside_is_unchanged();
}

/// The fallback for kernels without `openat2` refuses the same.
#[test]
fn part_by_part_is_the_same() {
    let place = place();
    let lookup = |path: &str| os::part_by_part(Some(&place.dir.0), Path::new(path));
    assert!(lookup("real/inner").is_ok());
    for path in ["way", "way/x", "file", "missing", "real/missing"] {
        assert!(lookup(path).is_err(), "{path}");
    }
}

/// A41
#[test]
fn private_directories_are_private() {
    let made = tempfile::tempdir().unwrap();
    let path = made.path().join("a/b");
    let dir = Dir::make_own(&path, Sharing::Closed).unwrap();
    assert_eq!(dir.own_metadata().unwrap().mode() & 0o777, 0o700);
    let refused = |mode, sharing| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        Dir::open_own(&path, sharing).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    };
    assert!(refused(0o777, Sharing::Readable) && refused(0o720, Sharing::Readable));
    assert!(refused(0o750, Sharing::Closed) && !refused(0o755, Sharing::Readable));
    let link = made.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(Dir::open_own(&link, Sharing::Readable).is_err(), "a link is not a directory of ours");
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
        assert!(Dir::make_own(&path, Sharing::Readable).is_err(), "another user's");
    }
}

/// R24: only root can show it.
#[test]
fn files_made_by_root_belong_to_the_owner_of_the_directory() {
    let place = place();
    if std::os::unix::fs::chown(&place.path, Some(12_345), Some(54_321)).is_err() {
        return;
    }
    place.dir.make_dir("made", 0o755).unwrap();
    place.dir.replace("file", 0o644, b"").unwrap();
    for name in ["made", "file"] {
        let found = place.dir.metadata(name).unwrap();
        assert_eq!((found.uid(), found.gid()), (12_345, 54_321), "{name}");
    }
}

/// A3, A43: links are followed as text, and never out of the directory.
#[rstest]
#[case::plain("file", Ok("file"))]
#[case::beside("near", Ok("file"))]
#[case::up_and_down("real/inner/up", Ok("file"))]
#[case::over_a_directory("alias/inner/file", Ok("real/inner/file"))]
#[case::missing("real/missing", Err(io::ErrorKind::NotFound))]
#[case::dangling("nowhere", Err(io::ErrorKind::NotFound))]
#[case::absolute("link", Err(io::ErrorKind::InvalidInput))]
#[case::out("out", Err(io::ErrorKind::InvalidInput))]
#[case::out_and_back("back", Err(io::ErrorKind::InvalidInput))]
#[case::round("round", Err(io::ErrorKind::InvalidInput))]
#[case::itself("itself", Err(io::ErrorKind::InvalidInput))]
#[case::through_a_file("file/x", Err(io::ErrorKind::NotADirectory))]
fn links_lead_no_further_than_the_directory(
    #[case] path: &str,
    #[case] expected: Result<&str, io::ErrorKind>,
) {
    let place = place();
    let links = [
        ("real/inner/up", "../../near"),
        ("alias", "real/."),
        ("nowhere", "real/missing"),
        ("out", "real/../../outside/secret"),
        ("back", "../workspace/file"),
        ("round", "round"),
        ("itself", "."),
    ];
    for (link, target) in links {
        symlink(target, place.path.join(link)).unwrap();
    }
    let found = place.dir.behind_links(path).map_err(|error| error.kind());
    assert_eq!(found, expected.map(PathBuf::from));
}

/// A43: links that double the path with each step.
#[test]
fn links_do_not_multiply_for_ever() {
    let place = place();
    symlink("file", place.path.join("0")).unwrap();
    for step in 1..40 {
        fs::create_dir(place.path.join(format!("d{step}"))).unwrap();
        let again = format!("d{step}/../").repeat(400);
        symlink(format!("{again}{}", step - 1), place.path.join(step.to_string())).unwrap();
    }
    assert!(place.dir.behind_links("39").is_err());
    assert!(place.dir.behind_links("1").is_ok());
}
