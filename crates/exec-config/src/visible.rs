//! Text of files that anybody may have written, for people to read.

/// One line in which nothing is hidden: what a terminal would obey, or what changes how the rest reads, is spelt out.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A34
    #[test]
    fn nothing_is_obeyed() {
        assert_eq!(visible("a 'ü' \\ \"…\""), "a 'ü' \\ \"…\"");
        assert_eq!(visible("x\nnetwork\u{1b}[2K\u{202e}"), "x\\nnetwork\\u{1b}[2K\\u{202e}");
    }
}
