//! Separates Rust code from its comments and strings, well enough to search for words in it.

/// The text with comments, strings and characters blanked out; line numbers stay the same.
pub(super) fn only_code(text: &str) -> String {
    sift(text, |piece| matches!(piece, Piece::Code))
}

/// The text with comments blanked out; lines stay where they are.
pub(super) fn without_comments(text: &str) -> String {
    sift(text, |piece| !matches!(piece, Piece::Quoted('/')))
}

/// The text with everything but strings blanked out; lines stay where they are.
pub(super) fn only_strings(text: &str) -> String {
    sift(text, |piece| matches!(piece, Piece::Quoted('"' | 'r')))
}

/// A piece of a file.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Code,
    /// A comment, string or character, by how it begins.
    Quoted(char),
}

fn sift(text: &str, keep: impl Fn(Piece) -> bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut sifted = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = skip(&chars, at);
        let (piece, end) = if end == at { (Piece::Code, at + 1) } else { (Piece::Quoted(chars[at]), end) };
        let blanked = |c: &char| if keep(piece) || *c == '\n' { *c } else { ' ' };
        sifted.extend(chars[at..end].iter().map(blanked));
        at = end;
    }
    sifted
}

/// The end of the comment, string or character that begins at `at`; `at` itself if none does.
fn skip(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied();
    match (chars[at], next) {
        ('/', Some('/')) => position(chars, at, |c| c == '\n'),
        ('/', Some('*')) => block_comment(chars, at),
        ('"', _) => string(chars, at + 1),
        ('r', Some('"' | '#')) if !inside_word(chars, at) => raw_string(chars, at),
        ('\'', Some('\\')) => position(chars, at + 3, |c| c == '\'') + 1,
        ('\'', _) if chars.get(at + 2) == Some(&'\'') => at + 3,
        _ => at,
    }
    .min(chars.len())
}

fn position(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|&i| wanted(chars[i])).unwrap_or(chars.len())
}

/// Block comments nest.
fn block_comment(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (at, depth) = (at + 2, depth + 1),
            ('*', Some('/')) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn string(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Ends at a quote followed by as many hashes as the string began with. A raw identifier (`r#type`) is not a
/// string.
fn raw_string(chars: &[char], start: usize) -> usize {
    let quote = position(chars, start + 1, |c| c != '#');
    if chars.get(quote) != Some(&'"') {
        return start;
    }
    let hashes = quote - start - 1;
    let closes =
        |i: usize| chars[i] == '"' && chars[i + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
    let end = (quote + 1..chars.len()).find(|&i| closes(i));
    end.map_or(chars.len(), |i| i + 1 + hashes)
}

/// Whether `at` continues a word. The `b` and `c` of `br"…"` and `cr"…"` are prefixes, not words.
fn inside_word(chars: &[char], at: usize) -> bool {
    let letters = chars[..at].iter().rev().take_while(|c| c.is_alphanumeric() || **c == '_').count();
    !matches!(chars[at - letters..at], [] | ['b' | 'c'])
}

/// Numbers, from 1, of the lines that contain `word` on its own.
pub(super) fn lines_with_word<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    lines_where(text, move |line| words(line, word).next().is_some())
}

/// Numbers, from 1, of the lines that call the macro `name`.
pub(super) fn lines_with_macro<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    lines_where(text, move |line| words(line, name).any(|end| line[end..].starts_with('!')))
}

fn lines_where<'a>(text: &'a str, holds: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = usize> + 'a {
    text.lines().enumerate().filter(move |(_, line)| holds(line)).map(|(index, _)| index + 1)
}

/// The positions in `line` where `word` ends, when it is on its own.
fn words<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).map(move |(start, _)| (start, start + word.len())).filter_map(
        move |(start, end)| {
            let alone = !line[..start].ends_with(part_of_word) && !line[end..].starts_with(part_of_word);
            alone.then_some(end)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn blanked(text: &str, expected: &str) {
        let squeezed = only_code(text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeezed, expected);
    }

    #[test]
    fn comments_are_not_code() {
        blanked("a // b\nc /* d /* e */ f */ g", "a c g");
    }

    #[test]
    fn comments_alone_are_blanked() {
        let text = without_comments("a(\"b // c\") // \"d\"\n'/' /* e */ f");
        assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), "a(\"b // c\") '/' f");
    }

    #[test]
    fn strings_are_not_code() {
        blanked(r#"a("b \" c", 'd', '\'', '\u{1F600}', b"e") f"#, "a( , , , , b ) f");
    }

    #[test]
    fn strings_are_kept_without_the_rest() {
        let kept = only_strings("a(\"b\", 'c') // \"d\"\nr#\"e\"# /* \"f\" */ g");
        assert_eq!(kept.split_whitespace().collect::<Vec<_>>(), ["\"b\"", "r#\"e\"#"]);
        assert_eq!(kept.lines().count(), 2);
    }

    #[test]
    fn raw_strings_end_at_their_own_hashes() {
        blanked("a(r##\"b \"# c\"##, r\"d\\\", br#\"e\"#) f", "a( , , b ) f");
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        blanked("fn a<'b>(r#type: &'b str) -> &'static str", "fn a<'b>(r#type: &'b str) -> &'static str");
    }

    #[test]
    fn unterminated_strings_are_blanked_to_the_end() {
        for text in ["a /* b", "a \"b \\", "a r#\"b\"", "a '\\"] {
            blanked(text, "a");
        }
    }

    #[test]
    fn lines_stay_where_they_are() {
        assert_eq!(only_code("a\n\"b\nc\"\nd").lines().count(), 4);
    }

    #[test]
    fn a_word_stands_alone() {
        let text = "unsafe {}\nunsafe_code\nnot_unsafe\n(unsafe)";
        assert_eq!(lines_with_word(text, "unsafe").collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn a_macro_is_a_word_with_a_bang() {
        let text = "print(x)\nprintln!(x)\nprint!(x)\neprint!(x)";
        assert_eq!(lines_with_macro(text, "print").collect::<Vec<_>>(), [3]);
    }
}
