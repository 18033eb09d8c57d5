//! The rule for flags: a library names options and operations, and `agentctl` alone spells its flags and commands.
//!
//! A Rust orchestrator and an MCP client have neither, so an error says with `exec_core::Remedy` what to change. Flags of
//! other programs look the same; where one of them has a namesake here, an exception names it.

mod exceptions;

use std::collections::BTreeSet;

use super::code::only_strings;
use super::files::SourceFile;
use super::{Allowed, Problem, exception};
use exceptions::EXCEPTIONS;

/// The files that name agentctl's flags: its table of options, the options of a single call, and its help.
const NAMING: [&str; 3] = [
    "crates/exec-config/src/options/",
    "crates/agentctl/src/output/spelling.rs",
    "crates/agentctl/tests/cli/help.rs",
];

/// The program, as its commands are written.
const PROGRAM: &str = "agentctl ";

/// Its commands.
const COMMANDS: &[&str] = &[
    "bootstrap-docker",
    "config",
    "doctor",
    "emergency-stop",
    "gc",
    "health",
    "images",
    "kill",
    "mcp",
    "ps",
    "resume",
    "rm",
    "run",
    "shell",
    "stop",
    "top",
    "workshop",
];

/// What is not a library.
const PROGRAMS: &[Allowed] = &[
    Allowed { place: "crates/agentctl/", why: "the front end that has these flags" },
    Allowed { place: "crates/exec-probe/", why: "the test program, with arguments of its own" },
    Allowed { place: "crates/exec-testkit/", why: "tests, which run other programs" },
    Allowed { place: "crates/static-build/", why: "runs cargo while building" },
];

/// Libraries name no flags and commands, and no exception is idle.
pub(super) fn check(files: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut flags = BTreeSet::new();
    for path in NAMING {
        let named: Vec<&str> = files
            .iter()
            .filter(|file| file.path.starts_with(path))
            .flat_map(|file| flags_in(&file.text))
            .collect();
        if named.is_empty() {
            problems.push(Problem::of(
                path,
                "nothing here names flags: correct `NAMING` in xtask/src/tidy/flags.rs",
            ));
        }
        flags.extend(named);
    }
    let mut used = Vec::new();
    for file in files {
        for (line, word) in uses(file, &flags) {
            if !exception::is_allowed(EXCEPTIONS, &file.path, &word) {
                let what = format!(
                    "`{word}` is for a front end to say: use `exec_core::Remedy`, or list it in \
                     xtask/src/tidy/flags/exceptions.rs with its reason"
                );
                problems.push(Problem::at(&file.path, line, what));
            }
            used.push((file.path.as_str(), word));
        }
    }
    problems.extend(exception::idle(EXCEPTIONS, &used));
    problems
}

/// Every flag and command in a library's strings, with its line.
fn uses(file: &SourceFile, flags: &BTreeSet<&str>) -> Vec<(usize, String)> {
    let is_library = file.is_rust()
        && file.path.starts_with("crates/")
        && file.path.contains("/src/")
        && !Allowed::covers(PROGRAMS, &file.path);
    let strings = if is_library { only_strings(file.production()) } else { String::new() };
    let in_line = |line: &str| {
        let flags = flags_in(line).filter(|flag| flags.contains(flag)).map(str::to_owned);
        flags.chain(commands_in(line)).collect::<Vec<_>>()
    };
    let lines = strings.lines().enumerate();
    lines.flat_map(|(index, line)| in_line(line).into_iter().map(move |word| (index + 1, word))).collect()
}

/// Words like `--memory`.
fn flags_in(text: &str) -> impl Iterator<Item = &str> {
    let part_of_flag = |c: char| c.is_ascii_lowercase() || c == '-';
    text.match_indices("--").filter_map(move |(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !part_of_flag(c)).unwrap_or(rest.len());
        let begins = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
        (begins && rest[2..end].starts_with(|c: char| c.is_ascii_lowercase())).then(|| &rest[..end])
    })
}

/// Words like `agentctl run`.
fn commands_in(line: &str) -> impl Iterator<Item = String> {
    line.match_indices(PROGRAM).filter_map(|(at, _)| {
        let rest = &line[at + PROGRAM.len()..];
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        COMMANDS.contains(&&rest[..end]).then(|| format!("{PROGRAM}{}", &rest[..end]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::sample::file;

    const LIBRARY: &str = "crates/exec-new/src/read.rs";

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        uses(&file(path, text), &BTreeSet::from(["--memory", "--image"]))
    }

    #[test]
    fn flags_and_commands_in_strings_are_found() {
        let text = "//! --memory\nfn a() {\n    b(\"raise --memory, or \\\n       `agentctl gc`\")\n}\n";
        assert_eq!(found(LIBRARY, text), [(3, "--memory".to_owned()), (4, "agentctl gc".to_owned())]);
    }

    #[test]
    fn flags_of_others_and_comments_are_not() {
        let text = "// raise --memory\nfn a() { b(\"git --memory-limit, x--image, how agentctl runs\", c --image) }\n";
        assert_eq!(found(LIBRARY, text), []);
        let text = "fn a() { b(\"--image\") }\n";
        assert_eq!(found(LIBRARY, text).len(), 1);
        for path in ["crates/agentctl/src/main.rs", "crates/exec-new/tests/a.rs", "xtask/src/main.rs"] {
            assert_eq!(found(path, text), [], "{path}");
        }
    }

    #[test]
    fn a_table_that_moved_and_idle_exceptions_are_problems() {
        assert!(check(&[]).len() >= NAMING.len() + EXCEPTIONS.len());
    }
}
