//! The table of tested systems in `README_SANDBOX.md`; each run in a virtual machine writes its own rows.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};

use crate::cargo;

/// The page with the table.
const PAGE: &str = "README_SANDBOX.md";

/// The table's header, by which it is found; the table ends at the first line that is not a row.
const HEAD: &str = "| where | what | as | passed | failed | ignored |\n|---|---|---|---|---|---|\n";

/// The number of cases by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    passed: u32,
    failed: u32,
    ignored: u32,
}

impl Counts {
    /// The sum of the last lines of test harnesses: `test result: ok. 14 passed; 0 failed; 2 ignored; …`.
    pub(super) fn in_output(text: &str) -> Self {
        let mut sum = Self::default();
        for line in text.lines().filter_map(|line| line.strip_prefix("test result: ")) {
            let count = |what: &str| {
                let parts = line.split(['.', ';']).map(str::trim);
                let number =
                    parts.filter_map(|part| part.strip_suffix(what)).find_map(|n| n.trim().parse().ok());
                number.unwrap_or(0)
            };
            sum.passed += count("passed");
            sum.failed += count("failed");
            sum.ignored += count("ignored");
        }
        sum
    }
}

/// A row's first three cells, which are unique.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Subject {
    /// System, kernel, engines.
    pub(super) place: String,
    pub(super) what: String,
    /// The user who ran it.
    pub(super) user: String,
}

/// Writes the row of a complete suite into the page. A partial suite leaves the row unchanged.
pub(super) fn write(subject: &Subject, counts: Counts) -> Result<()> {
    let path = cargo::root().join(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    let page =
        with_row(&page, subject, counts).with_context(|| format!("{PAGE} has no table to write to"))?;
    fs::write(&path, page).with_context(|| format!("cannot write {PAGE}"))
}

/// The page with one row added or replaced.
fn with_row(page: &str, subject: &Subject, counts: Counts) -> Option<String> {
    let (before, rest) = page.split_once(HEAD)?;
    let length: usize =
        rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    let (table, after) = rest.split_at(length);
    let mut rows: BTreeMap<Subject, String> = table.lines().filter_map(row).collect();
    let Counts { passed, failed, ignored } = counts;
    rows.insert(subject.clone(), format!("{passed} | {failed} | {ignored} |"));
    let table: String = rows
        .iter()
        .flat_map(|(row, counts)| ["| ", &row.place, " | ", &row.what, " | ", &row.user, " | ", counts, "\n"])
        .collect();
    Some([before, HEAD, &table, after].concat())
}

/// A row's subject, and the rest of it.
fn row(line: &str) -> Option<(Subject, String)> {
    let mut cells = line.strip_prefix("| ")?.splitn(4, " | ").map(str::to_owned);
    let (place, what, user) = (cells.next()?, cells.next()?, cells.next()?);
    Some((Subject { place, what, user }, cells.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_several_runs_add_up() {
        let text = "test a ... ok\ntest result: ok. 14 passed; 0 failed; 2 ignored; 0 measured; 3 filtered out\n\
                    test result: FAILED. 5 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.2s\n";
        assert_eq!(Counts::in_output(text), Counts { passed: 19, failed: 1, ignored: 2 });
        assert_eq!(Counts::in_output("aborted\n"), Counts::default());
    }

    #[test]
    fn a_row_replaces_its_predecessor_and_no_other() {
        let subject = |what: &str| Subject { place: "Debian".into(), what: what.into(), user: "root".into() };
        let counts = |passed| Counts { passed, failed: 0, ignored: 1 };
        let page = format!("before\n\n{HEAD}\nafter\n");
        let page = with_row(&page, &subject("b"), counts(1)).unwrap();
        let page = with_row(&page, &subject("a"), counts(2)).unwrap();
        let page = with_row(&page, &subject("b"), counts(3)).unwrap();
        let rows = "| Debian | a | root | 2 | 0 | 1 |\n| Debian | b | root | 3 | 0 | 1 |\n";
        assert_eq!(page, format!("before\n\n{HEAD}{rows}\nafter\n"));
        assert_eq!(with_row("no table", &subject("a"), counts(1)), None);
    }
}
