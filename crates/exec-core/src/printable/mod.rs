//! Untrusted text for people: names, paths, manifests, build output, words of a command. This module alone decides what of
//! it may reach a terminal, a log or a generated file.
//!
//! A terminal obeys control characters, a log trusts line breaks, and a reader trusts the order of the letters. [`line()`]
//! escapes all of them; [`lines`] keeps line breaks and tabs; a [`Sanitizer`] handles a stream that arrives in pieces and
//! may let colours pass.

mod stream;

use std::borrow::Cow;
use std::path::Path;

pub use stream::{Colours, Sanitizer};

/// Escapes text to a single line without control or hidden characters: a line break becomes `\n`, an escape `\u{1b}`.
///
/// ```
/// # use exec_core::printable;
/// assert_eq!(printable::line("make\n\u{1b}[2J"), r"make\n\u{1b}[2J");
/// assert_eq!(printable::line("grün"), "grün");
/// ```
pub fn line(text: &str) -> Cow<'_, str> {
    spelt_out(text, is_hidden)
}

/// Escapes control and hidden characters but keeps line breaks and tabs.
///
/// ```
/// # use exec_core::printable;
/// assert_eq!(printable::lines("a\n\tb\r\u{202e}c"), "a\n\tb\\r\\u{202e}c");
/// ```
pub fn lines(text: &str) -> Cow<'_, str> {
    spelt_out(text, |c| is_hidden(c) && c != '\n' && c != '\t')
}

/// Escapes a path as [`line()`] does.
pub fn path(path: &Path) -> String {
    line(&path.to_string_lossy()).into_owned()
}

/// Whether a character controls the display or is invisible: controls (including those beyond ASCII), line separators,
/// direction marks and overrides, and other characters of Unicode's category *format*.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn spelt_out(text: &str, is_spelt: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_spelt) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_spelt(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// A46
    #[rstest]
    #[case::text("a 'ü' \\ \"…\" 🦀", "a 'ü' \\ \"…\" 🦀")]
    #[case::escape("\u{1b}]0;t\u{7}", "\\u{1b}]0;t\\u{7}")]
    #[case::beyond_ascii("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}")]
    #[case::line_breaks("a\r\nb\u{2028}c\u{85}", "a\\r\\nb\\u{2028}c\\u{85}")]
    #[case::direction("\u{202e}gpj.exe\u{2066}", "\\u{202e}gpj.exe\\u{2066}")]
    #[case::nothing("in\u{200b}visible\u{e0041}", "in\\u{200b}visible\\u{e0041}")]
    fn nothing_is_obeyed(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(line(text), shown);
    }

    proptest! {
        /// A46
        #[test]
        fn whatever_it_is(text in any::<String>()) {
            prop_assert!(!line(&text).contains(is_hidden));
            prop_assert!(!lines(&text).contains(|c| is_hidden(c) && c != '\n' && c != '\t'));
            prop_assert_eq!(lines(&text).split('\n').count(), text.split('\n').count());
        }
    }
}
