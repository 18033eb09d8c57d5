//! A command's output for a model: bounded text without control characters. Pure.

use std::fmt::Write;

use exec_core::Captured;
use exec_core::printable::{Colours, Sanitizer};

/// If more than one in this many bytes is not text, the output counts as binary.
const ODD_BYTES: usize = 10;

/// How many bytes of binary output are shown.
const SAMPLE: usize = 32;

/// The captured part of a stream as text; the omitted middle is counted to the byte.
pub(crate) fn shape(captured: &Captured) -> String {
    let (head, tail) = (captured.head(), captured.tail());
    if is_binary(head) || is_binary(tail) {
        return binary(head, captured.total());
    }
    if captured.omitted() == 0 {
        return text(&captured.bytes());
    }
    let (kept_head, kept_tail) = (whole_characters(head), from_whole_character(tail));
    let cut = (head.len() - kept_head.len() + tail.len() - kept_tail.len()) as u64;
    let omitted = captured.omitted() + cut;
    let of = captured.total();
    format!("{}\n[… {omitted} of {of} bytes left out here …]\n{}", text(kept_head), text(kept_tail))
}

/// Bytes as text: invalid UTF-8 and control characters are made visible.
pub(crate) fn text(bytes: &[u8]) -> String {
    let (mut sanitizer, mut shown) = (Sanitizer::new(Colours::LeftOut), Vec::new());
    sanitizer.push(bytes, &mut shown);
    sanitizer.finish(&mut shown);
    String::from_utf8_lossy(&shown).into_owned()
}

/// Like [`shape`], for a piece of a longer stream.
pub(crate) fn piece(bytes: &[u8]) -> String {
    if is_binary(bytes) { binary(bytes, bytes.len() as u64) } else { text(bytes) }
}

/// The longest prefix that does not end within a character.
pub(crate) fn whole_characters(bytes: &[u8]) -> &[u8] {
    let last = bytes.iter().rev().take(4).position(|byte| !is_continuation(*byte)).unwrap_or(0);
    let start = bytes.len().saturating_sub(last + 1);
    let cut = bytes
        .get(start..)
        .is_some_and(|end| std::str::from_utf8(end).is_err_and(|error| error.error_len().is_none()));
    if cut { &bytes[..start] } else { bytes }
}

/// The longest suffix that does not start within a character.
fn from_whole_character(bytes: &[u8]) -> &[u8] {
    let within = bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count();
    &bytes[within..]
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

fn is_binary(bytes: &[u8]) -> bool {
    let broken = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    bytes.contains(&0) || broken > 3 && broken * ODD_BYTES > bytes.len()
}

fn binary(bytes: &[u8], total: u64) -> String {
    let hex = bytes.iter().take(SAMPLE).fold(String::new(), |mut hex, byte| {
        // Writing to a string can't fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    format!(
        "[{total} bytes of binary data, not shown; they begin with {hex}. Pipe them through `file`, `xxd` or `base64`.]"
    )
}

#[cfg(test)]
mod tests {
    use exec_core::{ByteSize, Capture, Collector};
    use proptest::prelude::*;

    use super::*;

    fn captured(bytes: &[u8], cap: u64) -> Captured {
        let mut collector = Collector::new(&Capture { cap: ByteSize::bytes(cap), spill: None }).unwrap();
        collector.push(bytes).unwrap();
        collector.finish()
    }

    #[test]
    fn short_text_is_itself_and_long_text_has_both_ends() {
        assert_eq!(shape(&captured("grün\n".as_bytes(), 100)), "grün\n");
        insta::assert_snapshot!(shape(&captured(b"0123456789", 4)), @r"
        01
        [… 6 of 10 bytes left out here …]
        89
        ");
    }

    /// R80: a cut within a character moves to its boundary, and the count stays exact.
    #[test]
    fn a_cut_never_splits_a_character() {
        let shaped = shape(&captured("ää→→→→ää".as_bytes(), 9));
        assert_eq!(shaped, "ää\n[… 12 of 20 bytes left out here …]\nää");
    }

    #[test]
    fn binary_output_is_named() {
        let shaped = shape(&captured(b"\x7fELF\0\x01", 100));
        assert!(
            shaped.starts_with("[6 bytes of binary data, not shown; they begin with 7f454c460001."),
            "{shaped}"
        );
        // A single odd byte in a text, as in an old file name, is shown escaped.
        assert_eq!(shape(&captured(b"na\xefve text", 100)), "na<ef>ve text");
    }

    proptest! {
        /// A34, R80: whatever was written, a model gets text without control characters, and every byte is accounted
        /// for.
        #[test]
        fn nothing_is_obeyed_and_nothing_uncounted(bytes: Vec<u8>, cap in 8u64..64) {
            let shaped = shape(&captured(&bytes, cap));
            prop_assert!(!shaped.contains(|c: char| c.is_control() && !"\n\r\t".contains(c)));
            if bytes.len() as u64 > cap {
                let count = format!("{} bytes", bytes.len());
                prop_assert!(shaped.contains(&count));
            }
        }

        #[test]
        fn text_in_any_pieces_is_whole(text in "\\PC{0,40}", at in 0usize..160) {
            let bytes = text.as_bytes();
            let kept = whole_characters(&bytes[..at.min(bytes.len())]);
            prop_assert!(std::str::from_utf8(kept).is_ok());
            prop_assert!(at.min(bytes.len()) - kept.len() < 4);
        }
    }
}
