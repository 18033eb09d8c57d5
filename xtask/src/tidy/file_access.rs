//! The rule for files: the host side reaches a directory that a command can write only through `exec_files`.
//!
//! The standard library follows links, waits for pipes and reads without a bound. The source does not show
//! which paths a command can write, so the rule covers all of them. An exception names what a file uses, and
//! why no command can influence what is opened there.

mod exceptions;

use super::code::only_code;
use super::files::SourceFile;
use super::{Allowed, Problem, exception};
use exceptions::EXCEPTIONS;

/// Types that only hold the result of opening or looking up a file.
const HARMLESS: &[&str] = &["File", "FileType", "Metadata", "Permissions"];

/// Words that open files by their paths.
const WORDS: &[&str] = &["OpenOptions", "DirBuilder", "CWD"];

/// Functions that open files, after the name of the type.
const OPENING: &[&str] = &["open", "create", "create_new", "options"];

/// Calls without arguments that look up a path.
const LOOKUPS: &[&str] = &[
    "canonicalize",
    "metadata",
    "symlink_metadata",
    "exists",
    "try_exists",
    "is_file",
    "is_dir",
    "is_symlink",
    "read_dir",
    "read_link",
];

/// Code that is not the host side, or implements this rule.
const OTHER_SIDES: &[Allowed] = &[
    Allowed { place: "crates/exec-files/", why: "every access goes through here" },
    Allowed { place: "crates/exec-init/", why: "runs inside, or as keeper before there is a command" },
    Allowed { place: "crates/exec-probe/", why: "the test program, runs inside" },
    Allowed { place: "crates/exec-testkit/", why: "tests, which plant what others must not follow" },
    Allowed { place: "crates/static-build/", why: "runs while building" },
];

/// Files are reached through `exec_files`.
pub(super) fn files_in_their_places(file: &SourceFile) -> Vec<Problem> {
    uses(file)
        .filter(|(_, name)| !exception::is_allowed(EXCEPTIONS, &file.path, name))
        .map(|(line, name)| {
            let what = format!(
                "`{name}` may follow a link or wait for a pipe that a command left: use `exec_files`, or list it in \
                 xtask/src/tidy/file_access/exceptions.rs with its reason"
            );
            Problem::at(&file.path, line, what)
        })
        .collect()
}

/// Exceptions that are no longer needed.
pub(super) fn no_idle_exceptions(files: &[SourceFile]) -> Vec<Problem> {
    let used = |file: &SourceFile| uses(file).map(|(_, name)| name.to_owned()).collect::<Vec<_>>();
    let used: Vec<(&str, String)> =
        files.iter().flat_map(|file| used(file).into_iter().map(|name| (file.path.as_str(), name))).collect();
    exception::idle(EXCEPTIONS, &used)
}

/// Every use in the code of the host side, with its line.
fn uses(file: &SourceFile) -> impl Iterator<Item = (usize, &'static str)> {
    let is_host_side = file.is_rust()
        && file.path.starts_with("crates/")
        && file.path.contains("/src/")
        && !Allowed::covers(OTHER_SIDES, &file.path);
    let code = if is_host_side { only_code(file.production()) } else { String::new() };
    let found: Vec<_> = code
        .lines()
        .enumerate()
        .flat_map(|(index, line)| in_line(line).into_iter().map(move |name| (index + 1, name)))
        .collect();
    found.into_iter()
}

fn in_line(line: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    found.extend(uses_module(line).then_some("fs"));
    let opens =
        |after: &str| after.strip_prefix("::").is_some_and(|rest| OPENING.contains(&first_word(rest)));
    found.extend(words(line, "File").any(|(_, after)| opens(after)).then_some("File"));
    found.extend(WORDS.iter().filter(|word| words(line, word).next().is_some()));
    let is_called = |name: &&&str| {
        words(line, name).any(|(before, after)| before.ends_with('.') && after.starts_with("()"))
    };
    found.extend(LOOKUPS.iter().filter(is_called));
    found
}

/// The module of the standard library or of tokio, except its harmless types. Modules of other crates have
/// the same name.
fn uses_module(line: &str) -> bool {
    words(line, "fs").any(|(before, after)| {
        let is_whole = ["std::", "tokio::"].iter().any(|path| before.ends_with(path));
        let is_other = before.ends_with("::") && !is_whole;
        match after.strip_prefix("::") {
            _ if is_other => false,
            None => is_whole,
            Some(rest) => match rest.strip_prefix('{').and_then(|list| list.split('}').next()) {
                Some(list) => !list.split(',').all(|name| HARMLESS.contains(&name.trim())),
                None => !HARMLESS.contains(&first_word(rest)),
            },
        }
    })
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The text before and after each place where a word is on its own.
fn words<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let around = move |(at, _)| (&line[..at], &line[at + word.len()..]);
    line.match_indices(word).map(around).filter(move |(before, after): &(&str, &str)| {
        !before.ends_with(part_of_word) && !after.starts_with(part_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::sample::file;

    const LIBRARY: &str = "crates/exec-new/src/read.rs";

    #[track_caller]
    fn found(line: &str, expected: &[&str]) {
        assert_eq!(in_line(line), expected, "{line}");
    }

    #[test]
    fn opening_and_looking_up_is_found() {
        found("use std::fs;", &["fs"]);
        found("use std::fs::{self, File};", &["fs"]);
        found("let text = fs::read_to_string(path)?;", &["fs"]);
        found("std::fs::write(path, text)", &["fs"]);
        found("tokio::fs::read(path).await", &["fs"]);
        found("File::open(path)?.take(MOST)", &["File"]);
        found("std::fs::File::create(path)", &["File"]);
        found("OpenOptions::new().append(true)", &["OpenOptions"]);
        found("openat(CWD, path, flags, mode)", &["CWD"]);
        found("path.canonicalize()?.is_dir()", &["canonicalize", "is_dir"]);
        found("    .symlink_metadata()", &["symlink_metadata"]);
    }

    #[test]
    fn unrelated_types_and_calls_are_ignored() {
        found("use std::fs::File;", &[]);
        found("use std::fs::{File, Metadata};", &[]);
        found("fn of(found: &std::fs::Metadata) -> Self", &[]);
        found("use std::os::unix::fs::MetadataExt;", &[]);
        found("rustix::fs::access(path, access)", &[]);
        found("self.engine.exists(id).await", &[]);
        found("root.metadata(name)?", &[]);
        found("File::from(pipe)", &[]);
    }

    #[test]
    fn only_the_host_side_is_checked() {
        let text = "//! x\nfn a() { std::fs::read(\"x\") }\n\n#[cfg(all(test, unix))]\nmod tests {\n    fs::read();\n}\n";
        assert_eq!(files_in_their_places(&file(LIBRARY, text)).len(), 1);
        assert_eq!(files_in_their_places(&file(LIBRARY, text))[0].line, 2);
        for path in [
            "crates/exec-init/src/main.rs",
            "crates/exec-new/tests/a.rs",
            "crates/exec-new/build.rs",
            "crates/exec-new/src/tests.rs",
            "xtask/src/main.rs",
        ] {
            assert!(files_in_their_places(&file(path, text)).is_empty(), "{path}");
        }
    }

    #[test]
    fn an_unneeded_exception_is_reported() {
        assert!(no_idle_exceptions(&[]).len() >= EXCEPTIONS.len());
    }
}
