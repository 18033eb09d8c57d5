//! Rules for Rust files.

use super::code::{lines_with_macro, lines_with_word, only_code};
use super::files::SourceFile;
use super::{Allowed, Problem};

/// Longer code should be two files; tests are not counted.
const MOST_LINES: usize = 450;

/// Macros of unfinished code or of debugging.
const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];

const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln"];

const UNSAFE_PLACES: &[Allowed] = &[
    Allowed { place: "crates/exec-init/", why: "PID 1 forks, execs and filters system calls" },
    Allowed {
        place: "crates/exec-probe/",
        why: "the test program tries system calls that no library offers",
    },
];

const PRINTING_PLACES: &[Allowed] = &[
    Allowed { place: "crates/static-build/", why: "part of build scripts, which talk to cargo by printing" },
    Allowed { place: "crates/exec-probe/", why: "programs that tests run; output is what they are for" },
    Allowed { place: "benches/", why: "run at a terminal" },
    Allowed { place: "examples/", why: "run at a terminal" },
    Allowed { place: "xtask/", why: "run at a terminal" },
];

/// Every module documents its purpose.
pub(super) fn module_has_a_purpose(file: &SourceFile) -> Vec<Problem> {
    let is_module = file.is_rust() && file.path.split('/').any(|part| part == "src");
    if !is_module || file.text.starts_with("//!") {
        return Vec::new();
    }
    vec![Problem::at(&file.path, 1, "a module starts with `//!`: what it is for and what it must not know")]
}

pub(super) fn no_unfinished_code(file: &SourceFile) -> Vec<Problem> {
    if !file.is_rust() {
        return Vec::new();
    }
    let code = only_code(&file.text);
    let mut problems = Vec::new();
    for name in UNFINISHED {
        let found = lines_with_macro(&code, name);
        problems.extend(
            found.map(|line| Problem::at(&file.path, line, format!("`{name}!` is not finished code"))),
        );
    }
    problems
}

pub(super) fn unsafe_in_its_places(file: &SourceFile) -> Vec<Problem> {
    if !file.is_rust() || Allowed::covers(UNSAFE_PLACES, &file.path) {
        return Vec::new();
    }
    let what = "`unsafe` belongs in exec-init";
    let code = only_code(&file.text);
    lines_with_word(&code, "unsafe").map(|line| Problem::at(&file.path, line, what)).collect()
}

/// Libraries report through results and `tracing`; a build script talks to cargo by printing.
pub(super) fn printing_in_its_places(file: &SourceFile) -> Vec<Problem> {
    let is_build_script = file.path.ends_with("/build.rs");
    if !file.is_rust() || is_build_script || Allowed::covers(PRINTING_PLACES, &file.path) {
        return Vec::new();
    }
    let code = only_code(file.production());
    let mut problems = Vec::new();
    for name in PRINTING {
        let what = format!("`{name}!` in a crate that does not print");
        problems
            .extend(lines_with_macro(&code, name).map(|line| Problem::at(&file.path, line, what.clone())));
    }
    problems
}

pub(super) fn file_is_small(file: &SourceFile) -> Vec<Problem> {
    let lines = file.production().lines().count();
    if !file.is_rust() || lines <= MOST_LINES {
        return Vec::new();
    }
    vec![Problem::of(&file.path, format!("{lines} lines without tests; {MOST_LINES} are the most"))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::sample::file;

    const LIBRARY: &str = "crates/exec-core/src/stop.rs";

    #[test]
    fn a_module_starts_with_its_purpose() {
        assert!(module_has_a_purpose(&file(LIBRARY, "//! Stops.\n")).is_empty());
        assert_eq!(module_has_a_purpose(&file(LIBRARY, "use x;\n//! Stops.\n")).len(), 1);
        assert!(module_has_a_purpose(&file("crates/exec-core/tests/stop.rs", "use x;\n")).is_empty());
        assert!(module_has_a_purpose(&file("crates/exec-core/src/a.txt", "x")).is_empty());
    }

    #[test]
    fn unfinished_code_is_found_and_mentions_of_it_are_not() {
        assert_eq!(
            no_unfinished_code(&file(LIBRARY, "a();\ntodo!()\n")),
            [Problem::at(LIBRARY, 2, "`todo!` is not finished code")]
        );
        assert_eq!(no_unfinished_code(&file("crates/a/tests/b.rs", "dbg!(x); unimplemented!()")).len(), 2);
        assert!(no_unfinished_code(&file(LIBRARY, "// todo!() is forbidden\n\"dbg!(x)\"")).is_empty());
    }

    #[test]
    fn unsafe_stays_in_its_places() {
        let text = "// unsafe here\n#![deny(unsafe_code)]\nunsafe { f() }\n";
        assert_eq!(unsafe_in_its_places(&file(LIBRARY, text))[0].line, 3);
        assert_eq!(unsafe_in_its_places(&file(LIBRARY, text)).len(), 1);
        assert!(unsafe_in_its_places(&file("crates/exec-init/src/main.rs", text)).is_empty());
        assert!(unsafe_in_its_places(&file("crates/exec-probe/src/sys.rs", text)).is_empty());
        assert_eq!(unsafe_in_its_places(&file("crates/exec-local/src/lib.rs", text)).len(), 1);
    }

    #[test]
    fn printing_stays_in_its_places() {
        let text = "/// println!(\"x\")\nfn a() { eprintln!(\"x\") }\n\n#[cfg(test)]\nmod tests {\n    println!()\n}\n";
        assert_eq!(printing_in_its_places(&file(LIBRARY, text)).len(), 1);
        // The program has its own writer, which keeps foreign text printable.
        assert_eq!(printing_in_its_places(&file("crates/agentctl/src/main.rs", text)).len(), 1);
        for path in ["crates/a/build.rs", "crates/a/tests/b.rs", "xtask/src/a.rs"] {
            assert!(printing_in_its_places(&file(path, text)).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_long_file_is_found_and_long_tests_are_not() {
        let code = "fn a() {}\n".repeat(MOST_LINES);
        let tests = format!("\n#[cfg(test)]\nmod tests {{\n{code}}}\n");
        assert!(file_is_small(&file(LIBRARY, code.clone())).is_empty());
        assert_eq!(file_is_small(&file(LIBRARY, format!("{code}//\n"))).len(), 1);
        assert!(file_is_small(&file(LIBRARY, format!("//! x\n{tests}"))).is_empty());
        assert!(file_is_small(&file("crates/a/tests/b.rs", format!("{code}{code}"))).is_empty());
    }
}
