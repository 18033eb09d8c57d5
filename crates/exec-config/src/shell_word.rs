//! Quotes arbitrary paths for users to copy.

use std::path::Path;

use exec_core::printable;

/// A path as one word of a shell command.
pub(crate) fn shell_word(path: &Path) -> String {
    match path.to_str().filter(|text| printable::line(text) == *text) {
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        // Escapes unprintable paths in the syntax of bash and zsh.
        None => format!("$'{}'", path.as_os_str().as_encoded_bytes().escape_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A38: no name can end the word, or the line.
    #[test]
    fn a_path_is_one_word() {
        assert_eq!(shell_word(Path::new("/a b/$(x)`y`\\")), r"'/a b/$(x)`y`\'");
        assert_eq!(shell_word(Path::new("/it's; rm -rf ~ '")), r"'/it'\''s; rm -rf ~ '\'''");
        assert_eq!(shell_word(Path::new("/a'\n\u{202e}\\")), r"$'/a\'\n\xe2\x80\xae\\'");
    }
}
