//! Rules for all files, whatever their content.

use std::path::Path;

use super::code::lines_with_word;
use super::files::SourceFile;
use super::{Allowed, Problem};

/// Words that mark unfinished work. Written apart, so that this file passes the check as well.
const MARKERS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

/// Texts that must stay unchanged.
const VERBATIM: &[Allowed] = &[Allowed { place: "LICENSE-", why: "the text of a licence is kept as it is" }];

/// Where home directories are.
const HOMES: &[&str] = &["/home/", "/Users/"];

/// Names of people who do not exist: for examples, tests and images.
const SAMPLE_PEOPLE: &[&str] =
    &["ada", "adam", "agent", "alice", "bob", "exectest", "me", "runner", "someone", "user", "you"];

pub(super) fn no_trailing_whitespace(file: &SourceFile) -> Vec<Problem> {
    if Allowed::covers(VERBATIM, &file.path) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate().filter(|(_, line)| line.ends_with([' ', '\t']));
    lines.map(|(index, _)| Problem::at(&file.path, index + 1, "whitespace at the end of the line")).collect()
}

pub(super) fn no_markers(file: &SourceFile) -> Vec<Problem> {
    let lines = |marker: &'static str| lines_with_word(&file.text, marker).map(move |line| (line, marker));
    let found = MARKERS.iter().flat_map(|marker| lines(marker));
    found
        .map(|(line, marker)| Problem::at(&file.path, line, format!("`{marker}`: do it or open an issue")))
        .collect()
}

/// A path below a real home directory is valid on one machine only.
pub(super) fn no_home_directories(file: &SourceFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for person in HOMES.iter().flat_map(|home| people_below(line, home)) {
            let what = format!("`{person}` has a home directory on one machine only; take `user`");
            problems.push(Problem::at(&file.path, index + 1, what));
        }
    }
    problems
}

fn people_below<'a>(line: &'a str, home: &'a str) -> impl Iterator<Item = &'a str> {
    let name_ends = |c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c));
    line.match_indices(home)
        .map(move |(at, _)| line[at + home.len()..].split(name_ends).next().unwrap_or_default())
        .filter(|person| !person.trim_matches('.').is_empty() && !SAMPLE_PEOPLE.contains(person))
}

/// No file knows the path of its own checkout. The name of a checkout right below `/` is too common to search
/// for.
pub(super) fn no_own_path(file: &SourceFile, root: &Path) -> Vec<Problem> {
    if root.components().count() < 3 {
        return Vec::new();
    }
    let own = root.to_string_lossy();
    let lines = file.text.lines().enumerate().filter(|(_, line)| line.contains(&*own));
    lines.map(|(index, _)| Problem::at(&file.path, index + 1, "the path of this very checkout")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::sample::file;

    fn lines(problems: &[Problem]) -> Vec<usize> {
        problems.iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn blanks_at_the_end_of_a_line_are_found() {
        let text = "a\nb \nc\t\nd\r\n";
        assert_eq!(lines(&no_trailing_whitespace(&file("README.md", text))), [2, 3]);
        assert!(no_trailing_whitespace(&file("LICENSE-MIT", text)).is_empty());
    }

    #[test]
    fn markers_are_found_wherever_they_stand_alone() {
        let [todo, fixme, xxx] = MARKERS else { panic!("{MARKERS:?}") };
        let text = format!("// {todo}: later\nno {todo}s here\nmktemp x.{xxx}{xxx}\n// {fixme}(me)");
        assert_eq!(lines(&no_markers(&file("a.rs", text))), [1, 4]);
    }

    #[test]
    fn home_directories_of_real_people_are_found() {
        let text = format!("/home/user/x\n/home/{0}/x\n/Users/{0}\n/home/\n/home/*\n/home/{{name}}", "jdoe");
        assert_eq!(lines(&no_home_directories(&file("a.rs", text))), [2, 3]);
    }

    #[test]
    fn the_checkouts_own_path_is_found() {
        let sample = file("a.md", "see /builds/project/docs\n");
        assert_eq!(lines(&no_own_path(&sample, Path::new("/builds/project"))), [1]);
        assert!(no_own_path(&sample, Path::new("/builds")).is_empty());
        assert!(no_own_path(&sample, Path::new("/builds/other")).is_empty());
    }
}
