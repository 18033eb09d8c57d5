//! A command that could not be started, from the words of those who tried. Pure.
//!
//! The engine's runtime says so when the container is started, its init program when it runs already: on standard error,
//! and by an exit code that a command may have as well. So only the whole sentence counts, about exactly this program.

use exec_core::{Error, ErrorKind};
use exec_wire::{Failed, Stage};

use super::body::INIT;

/// How the init program begins what it says when it gives up.
const BEGINNING: &[u8] = b"[FATAL tini (";

/// No program's name is longer than a path can be.
const LONGEST: usize = 5000;

/// The codes with which the init program ends then.
const CODES: [i64; 3] = [1, 126, 127];

/// Reasons, as systems word them, and Linux's number for each. The first match counts.
const REASONS: [(&str, i32); 10] = [
    ("executable file not found", 2),
    ("no such file or directory", 2),
    ("operation not permitted", 1),
    ("permission denied", 13),
    ("exec format error", 8),
    ("argument list too long", 7),
    ("not a directory", 20),
    ("text file busy", 26),
    ("too many levels of symbolic links", 40),
    ("file name too long", 36),
];

/// Whether this may be the beginning of the init program's last words.
pub(super) fn may_be_last_words(said: &[u8]) -> bool {
    let length = said.len().min(BEGINNING.len());
    said.len() <= LONGEST && said[..length] == BEGINNING[..length]
}

/// What the init program says of this program, when it ended with this code and said nothing else.
pub(super) fn of_init(said: &[u8], program: &str, code: i64) -> Option<Failed> {
    if !CODES.contains(&code) {
        return None;
    }
    let said = std::str::from_utf8(said.strip_prefix(BEGINNING)?).ok()?;
    let (pid, rest) = said.split_once(")] exec ")?;
    pid.parse::<u32>().ok()?;
    let reason = rest.strip_prefix(program)?.strip_prefix(" failed: ")?.strip_suffix('\n')?;
    if reason.contains('\n') {
        return None;
    }
    Some(Failed { stage: Stage::Exec, errno: errno(reason)? })
}

/// What the runtime says of the command, if that is what it failed with.
pub(super) fn of_runtime(error: &Error) -> Option<Failed> {
    let text = error.to_string();
    if is_about_init(&text) {
        return None;
    }
    let (stage, reason) = if let Some((_, reason)) = text.split_once("chdir to cwd (") {
        (Stage::Cwd, reason)
    } else {
        let (_, reason) = text.split_once("exec: ").or_else(|| text.split_once("exec "))?;
        (Stage::Exec, reason)
    };
    Some(Failed { stage, errno: errno(reason)? })
}

/// The engine is to start its init program and does not have it.
pub(super) fn explain_start(error: Error) -> Error {
    if !is_about_init(&error.to_string()) {
        return error;
    }
    let backend = error.backend().unwrap_or_default().to_owned();
    Error::new(ErrorKind::Engine, "start", "the engine can't start its own init program")
        .with_backend(backend)
        .with_source(error)
        .with_remedy("install `docker-init` (package tini) where the engine runs")
}

fn is_about_init(text: &str) -> bool {
    text.contains(&format!("exec: \"{INIT}\"")) || text.contains("\"docker-init\"")
}

fn errno(reason: &str) -> Option<i32> {
    let lower = reason.to_lowercase();
    REASONS.iter().find(|(words, _)| lower.contains(words)).map(|(_, errno)| *errno)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// R4
    #[rstest]
    #[case::missing("[FATAL tini (7)] exec x failed: No such file or directory\n", 127, Some(2))]
    #[case::forbidden("[FATAL tini (8)] exec x failed: Permission denied\n", 126, Some(13))]
    #[case::no_program("[FATAL tini (8)] exec x failed: Exec format error\n", 1, Some(8))]
    #[case::another_code("[FATAL tini (7)] exec x failed: No such file or directory\n", 3, None)]
    #[case::another_program("[FATAL tini (7)] exec xy failed: No such file or directory\n", 127, None)]
    #[case::more_than_that("[FATAL tini (7)] exec x failed: No such file or directory\nx\n", 127, None)]
    #[case::a_shell("sh: x: No such file or directory\n", 127, None)]
    #[case::no_number("[FATAL tini (x)] exec x failed: No such file or directory\n", 127, None)]
    #[case::cut_off("[FATAL tini (7)] exec x failed: No such file or dir", 127, None)]
    #[case::nothing("", 127, None)]
    fn the_init_programs_last_words(#[case] said: &str, #[case] code: i64, #[case] errno: Option<i32>) {
        assert_eq!(of_init(said.as_bytes(), "x", code).map(|failed| failed.errno), errno);
        let could_be = said.is_empty() || said.starts_with('[');
        assert_eq!(may_be_last_words(said.as_bytes()), could_be);
    }

    /// R4
    #[rstest]
    #[case("runc create failed: unable to start container process: exec: \"x\": executable file not found in $PATH: unknown", Some((Stage::Exec, 2)))]
    #[case("unable to start container process: exec: \"/x\": permission denied: unknown", Some((Stage::Exec, 13)))]
    #[case("exec: \"/x\": stat /x: no such file or directory", Some((Stage::Exec, 2)))]
    #[case("standard_init_linux.go:228: exec user process caused: exec format error", Some((Stage::Exec, 8)))]
    #[case("chdir to cwd (\"/w\") set in config.json failed: permission denied: unknown", Some((Stage::Cwd, 13)))]
    #[case("exec: \"/sbin/docker-init\": stat /sbin/docker-init: no such file or directory", None)]
    #[case("exec: \"docker-init\": executable file not found in $PATH", None)]
    #[case("error mounting \"/x\" to rootfs: no such file or directory", None)]
    #[case("no space left on device", None)]
    fn the_runtimes_words(#[case] text: &str, #[case] expected: Option<(Stage, i32)>) {
        let error = Error::new(ErrorKind::Engine, "engine", format!("can't start: {text}"));
        assert_eq!(of_runtime(&error).map(|failed| (failed.stage, failed.errno)), expected);
    }

    #[test]
    fn an_engine_without_its_init_program_is_told_apart() {
        let text = "exec: \"docker-init\": executable file not found in $PATH";
        let error = explain_start(Error::new(ErrorKind::Engine, "engine", text));
        assert!(error.remedy().is_some_and(|remedy| remedy.contains("docker-init")), "{error}");
    }
}
