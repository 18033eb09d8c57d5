//! Notes in the test's own place.

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
        self.note_as(
            directory,
            if directory.join(".git").is_dir() { Keeps::ItsRepository } else { Keeps::Nothing },
        );
    }

    fn note_as(&self, directory: &Path, keeps: Keeps) {
        let id = os::file_id(directory).unwrap();
        self.notes.take(&Writable { path: directory.to_owned(), id, keeps }).unwrap();
    }

    fn is_doubtful(&self, repository: &Path) -> bool {
        self.notes.forgeable(repository, &repository.join("worktrees/x")).is_some()
    }
}

/// Makes what git makes of a repository and one linked worktree.
fn repository_with_worktree(repository: &Path, worktree: &Path) {
    let admin = repository.join("worktrees/x");
    for directory in [&admin, &repository.join("objects"), &repository.join("refs")] {
        fs::create_dir_all(directory).unwrap();
    }
    fs::write(repository.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(admin.join("gitdir"), format!("{}\n", worktree.join(".git").display())).unwrap();
    fs::write(admin.join("commondir"), "../..\n").unwrap();
    fs::write(worktree.join(".git"), format!("gitdir: {}\n", admin.display())).unwrap();
}

#[test]
fn a_note_is_read_as_it_was_written() {
    let id = FileId { dev: 1, ino: 2, born: 3 };
    for keeps in [Keeps::Nothing, Keeps::ItsRepository, Keeps::ItsOrders] {
        for build_files in [vec![], vec!["Dockerfile".to_owned(), ".dockerignore".to_owned()]] {
            let worktree_of = build_files.is_empty().then(|| note::file_name(Path::new("/r/.git")));
            let note = Note { path: "/a\nb ".into(), id, keeps, worktree_of, build_files };
            assert_eq!(Note::parse(&note.text()).as_ref(), Some(&note));
        }
    }
    assert_eq!(Note::parse(b""), None);
    assert_eq!(Note::parse(b"first sight 2\n1 2\nnothing\n\n\n/x"), None);
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

/// A44: commands could write a directory above, or the list itself.
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

/// A44: the parts of its repository that a linked worktree may write are not a repository, and the repository stays one.
#[test]
fn the_repository_of_a_worktree_counts_and_nothing_made_in_it() {
    let place = place();
    let repository = place.make("main/.git");
    place.make("main/.git/worktrees/x");
    for (directory, keeps) in
        [("", Keeps::ItsOrders), ("worktrees/x", Keeps::ItsOrders), ("objects", Keeps::Nothing)]
    {
        place.note_as(&place.make(&format!("main/.git/{directory}")), keeps);
    }
    assert!(!place.is_doubtful(&repository));
    for forged in ["objects", "objects/fake", "worktrees/x/fake"] {
        place.make(&format!("main/.git/{forged}/worktrees/x"));
        assert!(place.is_doubtful(&repository.join(forged)), "{forged}");
    }
}

/// A44: if no mount protects the files git takes orders from, the first run that can write them makes them doubtful.
#[test]
fn what_was_not_kept_once_is_doubtful_for_good() {
    let place = place();
    let repository = place.make("main/.git");
    place.make("main/.git/worktrees/x");
    let main = place.root.join("main");
    for keeps in [Keeps::ItsRepository, Keeps::Nothing, Keeps::ItsRepository] {
        place.note_as(&main, keeps);
    }
    assert!(place.is_doubtful(&repository));
}

/// A43: files from before the first command count, later ones do not.
#[test]
fn build_files_are_those_of_the_first_sight() {
    let place = place();
    let workspace = place.make("w");
    fs::write(workspace.join("Dockerfile"), "").unwrap();
    place.note(&workspace);
    fs::write(workspace.join("Dockerfile.dev"), "").unwrap();
    place.note(&workspace);
    let (_, note) = place.notes.find(&workspace, os::file_id(&workspace).unwrap()).unwrap();
    assert_eq!(note.build_files, ["Dockerfile"]);
}

/// A44: a pointer counts if it existed before commands could write it, or leads to a repository they could write anyway.
#[test]
fn a_pointer_that_a_command_could_have_made_is_doubtful() {
    let place = place();
    let (main, elsewhere) = (place.make("main"), place.root.join("elsewhere/.git"));
    place.make("main/.git");
    let is_new =
        |workspace: &Path, repository: &Path| place.notes.new_pointer(workspace, repository).is_some();
    let worktree = place.make("main/trees/x");
    assert!(!is_new(&worktree, &elsewhere), "no command ever ran there");
    place.note(&main);
    assert!(!is_new(&worktree, &main.join(".git")), "the host made it a worktree of its repository");
    assert!(is_new(&worktree, &elsewhere), "a command above it may have made it");
    let own = place.make("own");
    place.note(&own);
    fs::write(own.join(".git"), "").unwrap();
    assert!(is_new(&own, &elsewhere), "it was not there before");
    let first = place.make("first");
    let repository = place.make("repository/.git");
    repository_with_worktree(&repository, &first);
    place.note(&first);
    assert!(!is_new(&first, &repository), "it was there before");
    assert!(is_new(&first, &elsewhere), "it led to another repository before");
    let nowhere = place.make("nowhere");
    fs::write(nowhere.join(".git"), "gitdir: /nowhere").unwrap();
    place.note(&nowhere);
    assert!(is_new(&nowhere, &elsewhere), "it led nowhere before");
}

/// A32: programs that a command could have put on the search path.
#[test]
fn what_lies_in_a_noted_directory_could_be_a_commands() {
    let place = place();
    let workspace = place.make("w/.venv/bin");
    place.note(&place.root.join("w"));
    std::os::unix::fs::symlink(&workspace, place.root.join("way")).unwrap();
    assert!(place.notes.covers(&workspace.join("podman")) && place.notes.covers(&place.root.join("way")));
    assert!(!place.notes.covers(Path::new("/usr/bin/podman")));
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
    let id = os::file_id(&workspace).unwrap();
    assert!(place.notes.take(&Writable { path: workspace, id, keeps: Keeps::Nothing }).is_err());
}
