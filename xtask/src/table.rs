//! Columns of text for a terminal.

/// Lays rows out in columns as wide as their widest cell, two blanks apart.
pub(crate) fn layout<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_without_blanks() {
        let rows = [["step", "time"], ["clippy", "≤ 1 s"], ["doc", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(layout(&rows), "step    time\nclippy  ≤ 1 s\ndoc\n");
    }
}
