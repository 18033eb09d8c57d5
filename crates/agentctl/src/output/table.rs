//! Tables for people: columns as wide as their widest cell, and every entry on its own line.

use exec_core::printable;

/// A header and lines, with every column but the last aligned.
pub(crate) fn table<const N: usize>(
    head: &[&str; N],
    lines: impl IntoIterator<Item = [String; N]>,
) -> String {
    let lines = lines.into_iter().map(|line| line.map(|cell| printable::line(&cell).into_owned()));
    let lines: Vec<[String; N]> = std::iter::once(head.map(str::to_owned)).chain(lines).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let show = |line: &[String; N]| {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.iter().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let line = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        assert_eq!(table(&["A", "B"], [line("xyz", "1"), line("ü", "22")]), "A    B\nxyz  1\nü    22\n");
    }
}
