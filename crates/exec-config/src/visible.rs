//! Text of files that anybody may have written, for people to read.

use std::path::Path;

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

/// A path as one word of a command that people copy into their shell.
pub(crate) fn shell_word(path: &Path) -> String {
    match path.to_str().filter(|text| visible(text) == *text) {
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        // What can't be shown as it is, is spelt out in a way that bash and zsh read.
        None => format!("$'{}'", path.as_os_str().as_encoded_bytes().escape_ascii()),
    }
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

    /// A38: nothing in a name ends the word, or the line.
    #[test]
    fn a_path_is_one_word() {
        assert_eq!(shell_word(Path::new("/a b/$(x)`y`\\")), r"'/a b/$(x)`y`\'");
        assert_eq!(shell_word(Path::new("/it's; rm -rf ~ '")), r"'/it'\''s; rm -rf ~ '\'''");
        assert_eq!(shell_word(Path::new("/a'\n\u{202e}\\")), r"$'/a\'\n\xe2\x80\xae\\'");
    }
}
