//! Output made safe to show: colours pass or are dropped, and every other control sequence is made visible.
//!
//! A terminal obeys all its input: a sequence can set the clipboard, answer for the user or hide text. Text, line breaks,
//! tabs, carriage returns (progress displays need them, and they can't leave their line) and SGR, `ESC [ … m`, pass. The
//! rest is shown: `^[` for escape, `<9b>` for a byte that is not text, `<U+009B>` for a control character beyond ASCII.
//! This is a pure state machine: how the output is cut into pieces makes no difference.

use std::io::Write;

const ESC: u8 = 0x1b;

/// The longest colour sequence that passes; real ones have a few dozen bytes.
const LONGEST: usize = 64;

/// Whether colours pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Colours {
    /// Colours pass, for people.
    #[default]
    Pass,
    /// Colours are dropped: to a model they are noise.
    LeftOut,
}

/// Makes one stream of output safe to show.
#[derive(Debug, Default)]
pub struct Sanitizer {
    colours: Colours,
    state: State,
    /// The beginning of a sequence or character whose end decides whether it passes.
    held: Vec<u8>,
    coloured: bool,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    #[default]
    Text,
    Escape,
    Sequence,
    Char {
        missing: u8,
    },
}

impl Sanitizer {
    /// A sanitizer that treats colours like this.
    pub fn new(colours: Colours) -> Self {
        Self { colours, ..Self::default() }
    }

    /// Appends `input`, made safe, to `shown`.
    pub fn push(&mut self, mut input: &[u8], shown: &mut Vec<u8>) {
        while let Some(&byte) = input.first() {
            if matches!(self.state, State::Text) {
                let plain = input.iter().position(|byte| !is_plain(*byte)).unwrap_or(input.len());
                shown.extend_from_slice(&input[..plain]);
                if plain > 0 {
                    input = &input[plain..];
                    continue;
                }
            }
            self.byte(byte, shown);
            input = &input[1..];
        }
    }

    /// Appends what was held back, and resets colours that were left on.
    pub fn finish(&mut self, shown: &mut Vec<u8>) {
        self.reveal(shown);
        if std::mem::take(&mut self.coloured) {
            shown.extend_from_slice(b"\x1b[0m");
        }
    }

    fn byte(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match (self.state, byte) {
            (State::Text, _) => self.text(byte, shown),
            (State::Escape, b'[') => self.hold(byte, State::Sequence),
            (State::Sequence, b'0'..=b'9' | b';' | b':') if self.held.len() < LONGEST => {
                self.hold(byte, State::Sequence);
            }
            (State::Sequence, b'm') => self.colour(shown),
            (State::Char { missing: 1 }, 0x80..=0xbf) => self.char(byte, shown),
            (State::Char { missing }, 0x80..=0xbf) => self.hold(byte, State::Char { missing: missing - 1 }),
            _ => {
                self.reveal(shown);
                self.text(byte, shown);
            }
        }
    }

    fn text(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            ESC => self.hold(byte, State::Escape),
            0xc2..=0xdf => self.hold(byte, State::Char { missing: 1 }),
            0xe0..=0xef => self.hold(byte, State::Char { missing: 2 }),
            0xf0..=0xf4 => self.hold(byte, State::Char { missing: 3 }),
            _ => show(byte, shown),
        }
    }

    fn hold(&mut self, byte: u8, state: State) {
        self.held.push(byte);
        self.state = state;
    }

    fn colour(&mut self, shown: &mut Vec<u8>) {
        self.state = State::Text;
        if self.colours == Colours::LeftOut {
            return self.held.clear();
        }
        self.coloured = self.held[2..].iter().any(|byte| !matches!(byte, b'0' | b';'));
        shown.append(&mut self.held);
        shown.push(b'm');
    }

    fn char(&mut self, last: u8, shown: &mut Vec<u8>) {
        self.held.push(last);
        match std::str::from_utf8(&self.held).ok().and_then(|text| text.chars().next()) {
            None => return self.reveal(shown),
            Some(char) if char.is_control() => write_to(shown, format_args!("<U+{:04X}>", u32::from(char))),
            Some(_) => shown.extend_from_slice(&self.held),
        }
        self.held.clear();
        self.state = State::Text;
    }

    /// Makes the held bytes visible: they do not pass.
    fn reveal(&mut self, shown: &mut Vec<u8>) {
        for byte in self.held.drain(..) {
            show(byte, shown);
        }
        self.state = State::Text;
    }
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

fn show(byte: u8, shown: &mut Vec<u8>) {
    match byte {
        _ if is_plain(byte) => shown.push(byte),
        0..=0x7f => shown.extend_from_slice(&[b'^', byte ^ 0x40]),
        _ => write_to(shown, format_args!("<{byte:02x}>")),
    }
}

fn write_to(shown: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory can't fail.
    let _ = shown.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn sanitize<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let (mut sanitizer, mut shown) = (Sanitizer::default(), Vec::new());
        for piece in pieces {
            sanitizer.push(piece, &mut shown);
        }
        sanitizer.finish(&mut shown);
        shown
    }

    /// A34
    #[rstest]
    #[case::clipboard(b"\x1b]52;c;eA==\x07", "^[]52;c;eA==^G")]
    #[case::title(b"\x1b]0;t\x1b\\", "^[]0;t^[\\")]
    #[case::clear(b"\x1b[2J", "^[[2J")]
    #[case::key_modes(b"\x1b[>4;2m", "^[[>4;2m")]
    #[case::colour(b"\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m")]
    #[case::colour_left_on(b"\x1b[38:5:1mred", "\x1b[38:5:1mred\x1b[0m")]
    #[case::cut_off(b"x\x1b[3", "x^[[3")]
    #[case::twice(b"\x1b\x1b[0m", "^[\x1b[0m")]
    #[case::c1_as_a_character("a\u{9b}31mb".as_bytes(), "a<U+009B>31mb")]
    #[case::c1_as_a_byte(b"a\x9b31mb", "a<9b>31mb")]
    #[case::text("grün → 🦀\r\n\t".as_bytes(), "grün → 🦀\r\n\t")]
    #[case::broken_text(b"\xe2\x82x", "<e2><82>x")]
    #[case::overlong(b"\xe0\x80\x9b", "<e0><80><9b>")]
    #[case::backspace(b"a\x08b\x7f\0", "a^Hb^?^@")]
    fn what_a_person_sees(#[case] output: &[u8], #[case] seen: &str) {
        assert_eq!(String::from_utf8_lossy(&sanitize([output])), seen);
    }

    #[test]
    fn a_model_sees_no_colours_and_no_escapes() {
        let (mut sanitizer, mut shown) = (Sanitizer::new(Colours::LeftOut), Vec::new());
        sanitizer.push(b"\x1b[1;31mred\x1b[0m \x1b]52;c;eA==\x07", &mut shown);
        sanitizer.finish(&mut shown);
        assert_eq!(String::from_utf8_lossy(&shown), "red ^[]52;c;eA==^G");
    }

    #[test]
    fn an_endless_sequence_is_not_held_for_ever() {
        let mut sanitizer = Sanitizer::default();
        let mut shown = Vec::new();
        sanitizer.push(b"\x1b[", &mut shown);
        sanitizer.push(&[b'1'; 10_000], &mut shown);
        assert!(sanitizer.held.is_empty());
        assert_eq!(shown.len(), 10_003);
    }

    /// Bytes, mostly dangerous ones.
    fn hostile() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            3 => prop::sample::select(b"\x1b[]0;:m?\x07\x9b\xc2\xe2\x82\xf0\x9f".to_vec()),
            1 => any::<u8>(),
        ];
        prop::collection::vec(byte, 0..200)
    }

    proptest! {
        /// A34: whatever was written, the shown text contains no control sequences except colours.
        #[test]
        fn nothing_but_colours_is_obeyed(output in hostile()) {
            let shown = String::from_utf8(sanitize([&*output])).unwrap();
            let mut parts = shown.split('\x1b');
            let mut texts = vec![parts.next().unwrap_or_default()];
            for part in parts {
                let rest = part.strip_prefix('[').unwrap();
                let (colour, text) = rest.split_once('m').unwrap();
                prop_assert!(colour.chars().all(|c| c.is_ascii_digit() || ";:".contains(c)));
                texts.push(text);
            }
            let obeyed = |c: char| c.is_control() && !"\n\r\t".contains(c);
            prop_assert!(!texts.concat().contains(obeyed));
        }

        #[test]
        fn pieces_make_no_difference(output in hostile(), size in 1usize..7) {
            prop_assert_eq!(sanitize(output.chunks(size)), sanitize([&*output]));
        }

        #[test]
        fn text_passes_unchanged(text in "[^\\p{Cc}]*") {
            prop_assert_eq!(sanitize([text.as_bytes()]), text.as_bytes());
        }
    }
}
