//! Notes in a place of the test's own.

use std::fs;

use tempfile::TempDir;

use super::*;

struct Place {
    _dir: TempDir,
    root: PathBuf,
    notes: Notes,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let notes = Notes::in_places([root.join("state/notes")]);
    Place { _dir: dir, root, notes }
}

impl Place {
    fn make(&self, name: &str) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn note(&self, directory: &Path) {
        self.notes.take(directory, os::file_id(directory).unwrap()).unwrap();
    }

    fn is_doubtful(&self, repository: &Path) -> bool {
        self.notes.forgeable(repository, &repository.join("worktrees/x")).is_some()
    }
}

#[test]
fn a_note_is_read_as_it_was_written() {
    let id = FileId { dev: 1, ino: 2, born: 3 };
    let mut note = Note::of(Path::new("/a\nb "), id, true);
    assert_eq!(Note::parse(&note.text()).as_ref(), Some(&note));
    for files in [vec![], vec!["Dockerfile".to_owned(), ".dockerignore".to_owned()]] {
        note.build_files = Some(files);
        assert_eq!(Note::parse(&note.text()).as_ref(), Some(&note));
    }
    assert_eq!(Note::parse(b""), None);
    assert_eq!(Note::parse(b"first sight 1\n1 2\ntrue\n-\n/x"), None);
}

/// A44: a repository counts if no command could write it, or its list of worktrees was kept from the first run on.
#[test]
fn a_repository_that_a_command_could_have_made_is_doubtful() {
    let place = place();
    let repository = place.make("main/.git");
    place.make("main/.git/worktrees/x");
    assert!(!place.is_doubtful(&repository), "no command ever ran there");
    place.note(&place.root.join("main"));
    assert!(!place.is_doubtful(&repository), "it was there before the first command");

    let workspace = place.make("bare");
    place.note(&workspace);
    for forged in ["bare", "bare/.git", "bare/fake.git"] {
        place.make(&format!("{forged}/worktrees/x"));
        assert!(place.is_doubtful(&place.root.join(forged)), "{forged}");
    }
}

/// A44: a directory above, or the list itself, given to commands.
#[test]
fn what_lies_in_a_writable_directory_is_doubtful() {
    for writable in ["all", "all/main/.git", "all/main/.git/worktrees"] {
        let place = place();
        let repository = place.make("all/main/.git");
        place.make("all/main/.git/worktrees/x");
        place.note(&place.root.join(writable));
        assert!(place.is_doubtful(&repository), "{writable}");
    }
}

#[test]
fn a_directory_made_anew_is_another_one() {
    let place = place();
    let workspace = place.make("w");
    place.note(&workspace);
    fs::rename(&workspace, place.root.join("old")).unwrap();
    let repository = place.make("w/.git");
    place.make("w/.git/worktrees/x");
    assert!(!place.is_doubtful(&repository));
}

#[test]
fn the_first_note_stays_until_a_person_removes_it() {
    let place = place();
    let workspace = place.make("w");
    place.note(&workspace);
    let repository = place.make("w/.git");
    place.make("w/.git/worktrees/x");
    place.note(&workspace);
    let note = place.notes.forgeable(&repository, &repository.join("worktrees/x")).unwrap();
    fs::remove_file(note).unwrap();
    place.note(&workspace);
    assert!(!place.is_doubtful(&repository));
}

#[test]
fn notes_of_directories_that_are_gone_go_too() {
    let place = place();
    for number in 0..2 * PRUNE_EVERY {
        let workspace = place.make(&format!("w{number}"));
        place.note(&workspace);
        fs::remove_dir(workspace).unwrap();
    }
    let kept = fs::read_dir(place.root.join("state/notes")).unwrap().count();
    assert!(kept <= PRUNE_EVERY, "{kept}");
}

/// A43: what was there at the first build counts, and nothing that came later.
#[test]
fn build_files_are_those_of_the_first_build() {
    let place = place();
    let workspace = place.make("w");
    let id = os::file_id(&workspace).unwrap();
    let pinned = |names: &[&str]| place.notes.pin(&workspace, id, names).unwrap().files;
    assert_eq!(pinned(&["Dockerfile"]), ["Dockerfile"]);
    assert_eq!(pinned(&["Dockerfile", "Dockerfile.dev"]), ["Dockerfile"]);
    place.note(&workspace);
    assert_eq!(pinned(&["Dockerfile"]), ["Dockerfile"], "a later note keeps it");
}

#[test]
fn a_second_place_takes_what_the_first_does_not() {
    let mut place = place();
    fs::write(place.root.join("file"), "").unwrap();
    place.notes = Notes::in_places([place.root.join("file/notes"), place.root.join("second")]);
    let workspace = place.make("w");
    place.note(&workspace);
    assert!(place.notes.find(&workspace, os::file_id(&workspace).unwrap()).is_some());
    place.notes = Notes::in_places([place.root.join("file/notes")]);
    assert!(place.notes.take(&workspace, os::file_id(&workspace).unwrap()).is_err());
}
