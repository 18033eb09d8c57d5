//! Every name that our code could read or create in a workspace: each string of its source that could be one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Longer strings are sentences.
const LONGEST: usize = 40;

/// Code that never runs on a host in a workspace, or only in tests.
const ELSEWHERE: [&str; 5] = ["exec-init", "exec-probe", "exec-testkit", "static-build", "exec-wire"];

/// Names as they are in the source, including directories in them.
pub(crate) fn names_in_the_source() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let crates = fs::read_dir(super::source()).unwrap().map(|entry| entry.unwrap());
    for package in crates.filter(|entry| !ELSEWHERE.iter().any(|name| entry.file_name() == *name)) {
        collect(&package.path().join("src"), &mut names);
    }
    assert!(names.len() > 500, "the source can't be read: {}", names.len());
    // Names that the search must find; otherwise the search itself is broken.
    for known in [".git", ".agentctl", "Dockerfile.dev", ".dockerignore", "Cargo.toml", "scripts/build.sh"] {
        assert!(names.iter().any(|name| name.starts_with(known)), "{known} is not among {names:?}");
    }
    names
}

fn collect(directory: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            names.extend(text.split('"').filter(|piece| could_be_a_name(piece)).map(str::to_owned));
        }
    }
    // A configuration file is found by a stem and one of several extensions.
    let ends: Vec<String> = [".toml", ".json", ".yaml", ".yml"].map(|end| format!(".agentctl{end}")).into();
    names.extend(ends);
}

/// The text between two quotes is a string or the code between two strings; a name looks like neither.
fn could_be_a_name(piece: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/+".contains(c);
    let parts = || piece.split('/');
    (2..=LONGEST).contains(&piece.len())
        && piece.chars().all(plain)
        && piece.chars().any(|c| c.is_ascii_alphabetic())
        && !piece.starts_with('-')
        && parts().all(|part| !part.is_empty() && part != "." && part != "..")
}
