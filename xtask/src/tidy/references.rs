//! The numbers that tests name: requirements (`R17`), attacks (`A3`) and faults (`F2`), as listed in `docs/`.
//!
//! Both directions are checked. A number in the documentation of a test is in the list, and a listed number
//! is named by a test or its line gives the reason for having none.

use std::collections::BTreeMap;

use super::Problem;
use super::files::SourceFile;

/// The lists, and the letters of their numbers.
const LISTS: &[(&str, &[char])] = &[("docs/requirements.md", &['R']), ("docs/threats.md", &['A', 'F'])];

/// Marks of a line that needs no test.
const WITHOUT_A_TEST: &[&str] = &["*Planned.*", "*Benched.*", "*Documented.*", "*Not tested.*"];

/// Test code whose path does not show it: the cases that every backend runs.
const CASES: &str = "crates/exec-testkit/src/";

/// A line of a list.
struct Entry {
    path: &'static str,
    line: usize,
    needs_a_test: bool,
}

/// Compares the lists with the tests.
pub(super) fn check(files: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let entries = entries(files, &mut problems);
    let mut shown = Vec::new();
    for (file, line, number) in files.iter().flat_map(numbers_in_tests) {
        if !entries.contains_key(number) {
            let what = format!("docs/ lists no requirement, attack or fault `{number}`");
            problems.push(Problem::at(&file.path, line, what));
        }
        shown.push(number);
    }
    for (number, entry) in &entries {
        let what = match (shown.contains(number), entry.needs_a_test) {
            (true, true) | (false, false) => continue,
            (false, true) => format!("no test names {number}, and its line has no mark with the reason"),
            (true, false) => format!("a test names {number}, and its line is marked as one without a test"),
        };
        problems.push(Problem::at(entry.path, entry.line, what));
    }
    problems
}

/// Every listed number. A number that is listed twice is a problem.
fn entries<'a>(files: &'a [SourceFile], problems: &mut Vec<Problem>) -> BTreeMap<&'a str, Entry> {
    let mut entries = BTreeMap::new();
    for &(path, letters) in LISTS {
        let Some(file) = files.iter().find(|file| file.path == path) else {
            problems.push(Problem::of(path, "is missing"));
            continue;
        };
        for (line, text) in (1..).zip(file.text.lines()) {
            let Some(number) = listed(text).filter(|number| number.starts_with(letters)) else { continue };
            let needs_a_test = !WITHOUT_A_TEST.iter().any(|mark| text.contains(mark));
            if entries.insert(number, Entry { path, line, needs_a_test }).is_some() {
                problems.push(Problem::at(path, line, format!("{number} is listed twice")));
            }
        }
    }
    entries
}

/// The number that a line of a list defines: `- R1: …` or `| A1 | …`.
fn listed(line: &str) -> Option<&str> {
    let item = line.strip_prefix("- ").and_then(|rest| rest.split_once(':'));
    let row = || line.strip_prefix("| ").and_then(|rest| rest.split_once(" |"));
    let (number, _) = item.or_else(row)?;
    is_number(number).then_some(number)
}

/// The numbers in a file's test code, with their lines: in documentation, and as the tags of conformance cases.
fn numbers_in_tests(file: &SourceFile) -> Vec<(&SourceFile, usize, &str)> {
    if !file.is_rust() {
        return Vec::new();
    }
    let is_all_tests = file.is_test() || file.path.starts_with(CASES);
    let untested = if is_all_tests { 0 } else { file.production().lines().count() };
    let lines = file.text.lines().enumerate().skip(untested);
    let tagged = lines.filter(|(_, line)| is_documentation(line) || line.contains("case!("));
    let numbers = tagged.flat_map(|(index, line)| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| is_number(word)).map(move |word| (file, index + 1, word))
    });
    numbers.collect()
}

fn is_documentation(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("///") || line.starts_with("//!")
}

/// Whether a word has the form of a number: a letter of the lists and digits.
fn is_number(word: &str) -> bool {
    let mut chars = word.chars();
    let is_series =
        chars.next().is_some_and(|first| LISTS.iter().any(|(_, letters)| letters.contains(&first)));
    let digits = chars.as_str();
    is_series && !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::sample::file;

    const TEST: &str = "crates/exec-local/tests/stop.rs";

    /// The problems of two short lists and a file with this text.
    fn problems(path: &str, text: &str) -> Vec<(String, usize)> {
        let requirements = "# Requirements\n- R1: runs.\n- R2: flies. *Planned.*\n";
        let threats = "| # | attack |\n|---|---|\n| A3 | a link |\n\n| F2 | *Not tested.* a stop |\n";
        let files =
            [file("docs/requirements.md", requirements), file("docs/threats.md", threats), file(path, text)];
        check(&files).into_iter().map(|problem| (problem.path, problem.line)).collect()
    }

    #[test]
    fn lists_and_tests_agree() {
        assert!(problems(TEST, "/// R1, A3: both\n").is_empty());
        let case = "/// R1\n    case!(a_link, \"A3\"),\n";
        assert!(problems("crates/exec-testkit/src/cases/stop.rs", case).is_empty());
    }

    #[test]
    fn unknown_numbers_are_found_in_tests_only() {
        let text = format!("/// R1, A3\n//! {}\n", concat!("R", "9"));
        assert_eq!(problems(TEST, &text), [(TEST.to_owned(), 2)]);
        let elsewhere = problems("crates/exec-local/src/stop.rs", &text);
        assert!(elsewhere.iter().all(|(path, _)| path.starts_with("docs/")), "{elsewhere:?}");
    }

    #[test]
    fn lines_without_a_test_have_a_reason() {
        assert_eq!(problems(TEST, "/// R1\n"), [("docs/threats.md".to_owned(), 3)]);
        assert_eq!(problems(TEST, "/// R1, R2, A3\n"), [("docs/requirements.md".to_owned(), 3)]);
    }

    #[test]
    fn a_number_is_a_letter_and_digits() {
        for (word, is) in
            [("R1", true), ("F15", true), ("R", false), ("RAM", false), ("R2D2", false), ("V6", false)]
        {
            assert_eq!(is_number(word), is, "{word}");
        }
    }
}
