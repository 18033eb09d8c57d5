//! The numbers that tests name: requirements (`R17`), attacks (`A3`) and faults (`F2`).

use std::ops::RangeInclusive;

use super::Problem;
use super::files::SourceFile;

/// A letter and the numbers that exist for it.
struct Series {
    letter: char,
    numbers: &'static [RangeInclusive<u32>],
}

const SERIES: &[Series] = &[
    Series {
        letter: 'R',
        numbers: &[
            1..=7,
            10..=15,
            20..=29,
            30..=38,
            40..=45,
            50..=50,
            60..=66,
            70..=78,
            80..=86,
            90..=93,
            100..=104,
            110..=112,
            120..=122,
        ],
    },
    Series { letter: 'A', numbers: &[1..=50] },
    Series { letter: 'F', numbers: &[1..=15] },
];

/// Where the tests are that are not test code by their place: cases that every backend runs.
const CASES: &str = "crates/exec-testkit/src/";

/// A number in the documentation of a test is one that exists.
pub(super) fn numbers_exist(file: &SourceFile) -> Vec<Problem> {
    if !file.is_rust() {
        return Vec::new();
    }
    let is_all_tests = file.is_test() || file.path.starts_with(CASES);
    let untested = if is_all_tests { 0 } else { file.production().lines().count() };
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate().skip(untested) {
        let Some(doc) = documentation(line) else { continue };
        let unknown = doc.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| is_unknown(word));
        problems.extend(unknown.map(|word| {
            Problem::at(&file.path, index + 1, format!("there is no requirement, attack or fault `{word}`"))
        }));
    }
    problems
}

fn documentation(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
}

/// Whether a word has the form of a reference and refers to nothing.
fn is_unknown(word: &str) -> bool {
    let mut chars = word.chars();
    let Some(series) = chars.next().and_then(|letter| SERIES.iter().find(|series| series.letter == letter))
    else {
        return false;
    };
    let digits = chars.as_str();
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return false;
    }
    let exists = |number| series.numbers.iter().any(|range| range.contains(&number));
    digits.starts_with('0') || !digits.parse().is_ok_and(exists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::sample::file;

    #[test]
    fn numbers_that_exist_are_fine() {
        for word in ["R1", "R50", "R112", "A50", "F15", "R", "RAM", "R2D2", "F_SETFD", "Fork", "8"] {
            assert!(!is_unknown(word), "{word}");
        }
    }

    #[test]
    fn numbers_that_do_not_exist_are_found() {
        for word in ["R0", "R8", "R017", "R113", "A51", "A99999999999", "F16", "F01"] {
            assert!(is_unknown(word), "{word}");
        }
    }

    #[test]
    fn only_the_documentation_of_tests_is_read() {
        let text = format!("/// {0}\nlet x = {0};\n// {0}\n    /// R1, {0}: x\n", concat!("R", "999"));
        let lines =
            |path| numbers_exist(&file(path, text.clone())).iter().map(|p| p.line).collect::<Vec<_>>();
        assert_eq!(lines("crates/exec-local/tests/stop.rs"), [1, 4]);
        assert_eq!(lines("crates/exec-testkit/src/cases/stop.rs"), [1, 4]);
        assert!(lines("crates/exec-local/src/stop.rs").is_empty());
    }
}
