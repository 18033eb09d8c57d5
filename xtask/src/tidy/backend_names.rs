//! The rule for backends: code that names one belongs into its own crate or into the one list.
//!
//! A new backend should not have to be added in more places than the list. A name is a whole string literal
//! (`"docker"`) or the path of the backend's crate. `"local"` means too many other things to be looked for as a word;
//! its crate is.

mod exceptions;

use super::Problem;
use super::code::without_comments;
use super::files::SourceFile;
use exceptions::EXCEPTIONS;

/// What names a backend, and the crate that may.
const NAMES: &[(&str, &str)] = &[
    ("\"docker\"", "crates/exec-docker/"),
    ("exec_docker", "crates/exec-docker/"),
    ("agent_exec::docker", "crates/exec-docker/"),
    ("\"podman\"", "crates/exec-podman/"),
    ("exec_podman", "crates/exec-podman/"),
    ("agent_exec::podman", "crates/exec-podman/"),
    ("exec_local", "crates/exec-local/"),
    ("agent_exec::local", "crates/exec-local/"),
];

/// Backends are named in their crates and in the list alone.
pub(super) fn backends_in_their_places(file: &SourceFile) -> Vec<Problem> {
    let is_allowed = |name: &str| EXCEPTIONS.iter().any(|exception| exception.covers(&file.path, name));
    let unknown = uses(file).into_iter().filter(|(_, name)| !is_allowed(name));
    unknown
        .map(|(line, name)| {
            let what = format!(
                "`{name}` names a backend: take it from `agent_exec::Backends`, or list it in \
                 xtask/src/tidy/backend_names/exceptions.rs with its reason"
            );
            Problem::at(&file.path, line, what)
        })
        .collect()
}

/// Exceptions that nothing needs any more.
pub(super) fn no_idle_exceptions(files: &[SourceFile]) -> Vec<Problem> {
    let used: Vec<(&str, &str)> = files
        .iter()
        .flat_map(|file| uses(file).into_iter().map(|(_, name)| (file.path.as_str(), name)))
        .collect();
    let mut problems = Vec::new();
    for exception in EXCEPTIONS {
        let is_used =
            |name: &&&str| used.iter().any(|(path, used)| path.starts_with(exception.place) && used == *name);
        let idle = exception.names.iter().filter(|name| !is_used(name));
        problems.extend(idle.map(|name| {
            Problem::of(exception.place, format!("nothing here needs the exception for `{name}`"))
        }));
    }
    problems
}

/// Every name in production code of the crates, with its line.
fn uses(file: &SourceFile) -> Vec<(usize, &'static str)> {
    if !file.is_rust() || !file.path.starts_with("crates/") || !file.path.contains("/src/") {
        return Vec::new();
    }
    let code = without_comments(file.production());
    let foreign = NAMES.iter().filter(|(_, home)| !file.path.starts_with(home));
    let named = |line: &str, name: &str| {
        // Attributes name cargo features.
        line.match_indices(name).any(|(at, _)| !line.contains("feature =") && stands_alone(line, at, name))
    };
    let lines: Vec<&str> = code.lines().collect();
    let in_lines = |&(name, _): &(&'static str, &str)| {
        let numbers = (1..).zip(&lines).filter(|(_, line)| named(line, name)).map(|(number, _)| number);
        numbers.map(|number| (number, name)).collect::<Vec<_>>()
    };
    foreign.flat_map(in_lines).collect()
}

/// Whether this is the whole of a path's segment or a literal.
fn stands_alone(line: &str, at: usize, name: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let (before, after) = (&line[..at], &line[at + name.len()..]);
    name.starts_with('"') || !(before.ends_with(part_of_word) || after.starts_with(part_of_word))
}

#[cfg(test)]
mod tests {
    use super::exceptions::Exception;
    use super::*;
    use crate::tidy::files::sample::file;

    const ELSEWHERE: &str = "crates/exec-new/src/choose.rs";

    #[track_caller]
    fn found(path: &str, line: &str, expected: &[&str]) {
        let names: Vec<_> = uses(&file(path, line)).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, expected, "{line}");
    }

    #[test]
    fn names_and_paths_are_found() {
        found(ELSEWHERE, "builder.rule_out(\"docker\", by)", &["\"docker\""]);
        found(ELSEWHERE, "Self::Podman => \"podman\",", &["\"podman\""]);
        found(ELSEWHERE, "use exec_local::LocalConfig;", &["exec_local"]);
        found(ELSEWHERE, "agent_exec::docker::digests(&images)", &["agent_exec::docker"]);
    }

    #[test]
    fn other_words_are_not() {
        for line in [
            "let socket = \"docker.sock\";",
            "// \"docker\" is preferred",
            "/// `\"podman\"`",
            "#[cfg(feature = \"docker\")]",
            "let name = \"local\";",
            "my_exec_docker::run()",
        ] {
            found(ELSEWHERE, line, &[]);
        }
    }

    #[test]
    fn a_backend_may_name_itself_and_tests_may_name_all() {
        found("crates/exec-docker/src/lib.rs", "const NAME: &str = \"docker\";", &[]);
        found("crates/exec-docker/src/lib.rs", "\"podman\"", &["\"podman\""]);
        found("crates/exec-new/tests/a.rs", "\"podman\"", &[]);
        found(ELSEWHERE, "\n#[cfg(test)]\nmod tests {\n    \"podman\"\n}\n", &[]);
    }

    #[test]
    fn an_exception_is_for_what_it_names() {
        let one = Exception { place: ELSEWHERE, names: &["\"docker\""], why: "" };
        assert!(one.covers(ELSEWHERE, "\"docker\"") && !one.covers(ELSEWHERE, "\"podman\""));
        let text = "fn a() { run(\"docker\") }";
        assert_eq!(backends_in_their_places(&file(ELSEWHERE, text)).len(), 1);
    }

    #[test]
    fn an_exception_that_nothing_needs_is_found() {
        assert!(no_idle_exceptions(&[]).len() >= EXCEPTIONS.len());
    }
}
