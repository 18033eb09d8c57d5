//! D-Bus messages, as far as one request and its reply need them: bytes in, bytes out.
//!
//! Knows the wire format (little-endian, every value aligned to its size), not the requests themselves.

/// A request, or the header of one that is being written.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// The bus name of the receiver; `None` on a connection to a single program.
    pub(super) destination: Option<&'a str>,
    pub(super) path: &'a str,
    pub(super) interface: &'a str,
    pub(super) member: &'a str,
    /// The types of the body.
    pub(super) signature: &'a str,
    pub(super) body: Body,
}

const LITTLE_ENDIAN: u8 = b'l';
const VERSION: u8 = 1;
const METHOD_CALL: u8 = 1;

/// The length of the header before its fields.
pub(super) const FIXED: usize = 16;

impl Call<'_> {
    /// Encodes the message with this number.
    pub(super) fn encode(&self, serial: u32) -> Vec<u8> {
        let mut out = Body::default();
        for byte in [LITTLE_ENDIAN, METHOD_CALL, 0, VERSION] {
            out.byte(byte);
        }
        out.uint(self.body.0.len() as u32);
        out.uint(serial);
        out.array(8, |fields| {
            fields.field(1, "o", |value| value.string(self.path));
            fields.field(2, "s", |value| value.string(self.interface));
            fields.field(3, "s", |value| value.string(self.member));
            if let Some(destination) = self.destination {
                fields.field(6, "s", |value| value.string(destination));
            }
            if !self.signature.is_empty() {
                fields.field(8, "g", |value| value.signature(self.signature));
            }
        });
        out.align(8);
        out.0.extend_from_slice(&self.body.0);
        out.0
    }
}

/// Values in the order they were added.
#[derive(Debug, Default)]
pub(super) struct Body(Vec<u8>);

impl Body {
    pub(super) fn uint(&mut self, value: u32) {
        self.align(4);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn string(&mut self, text: &str) {
        self.uint(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
        self.byte(0);
    }

    /// A list of values with this alignment, added by `fill`.
    pub(super) fn array(&mut self, alignment: usize, fill: impl FnOnce(&mut Self)) {
        self.uint(0);
        let length_at = self.0.len() - 4;
        self.align(alignment);
        let begin = self.0.len();
        fill(self);
        let length = (self.0.len() - begin) as u32;
        if let Some(place) = self.0.get_mut(length_at..length_at + 4) {
            place.copy_from_slice(&length.to_le_bytes());
        }
    }

    /// A `(name, value)` pair whose value carries its own type.
    pub(super) fn property(&mut self, name: &str, signature: &str, put: impl FnOnce(&mut Self)) {
        self.align(8);
        self.string(name);
        self.signature(signature);
        put(self);
    }

    fn field(&mut self, code: u8, signature: &str, put: impl FnOnce(&mut Self)) {
        self.align(8);
        self.byte(code);
        self.signature(signature);
        put(self);
    }

    fn signature(&mut self, text: &str) {
        self.byte(text.len() as u8);
        self.0.extend_from_slice(text.as_bytes());
        self.byte(0);
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }
}

/// A message from the other side.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// The reply to the request with this number.
    Answer(u32),
    /// The refusal of a request.
    Refusal {
        /// The number of the request.
        of: u32,
        /// The error's name and text.
        why: String,
    },
    /// An unsolicited message.
    Other,
}

/// The length of the message that begins with these [`FIXED`] bytes.
pub(super) fn length(fixed: &[u8]) -> Option<usize> {
    if fixed.first() != Some(&LITTLE_ENDIAN) {
        return None;
    }
    let (body, fields) = (number_at(fixed, 4)?, number_at(fixed, 12)?);
    let head = FIXED.checked_add(fields)?.checked_next_multiple_of(8)?;
    head.checked_add(body)
}

/// Decodes a whole message.
pub(super) fn decode(message: &[u8]) -> Option<Received> {
    let kind = message.get(1)?;
    let end = FIXED.checked_add(number_at(message, 12)?)?;
    let fields = Fields { bytes: message.get(..end)?, at: FIXED };
    let (mut of, mut error) = (None, String::new());
    for (code, value) in fields {
        match (code, value) {
            (5, Value::Number(number)) => of = Some(number),
            (4, Value::Text(text)) => text.clone_into(&mut error),
            _ => {}
        }
    }
    Some(match (kind, of) {
        (2, Some(of)) => Received::Answer(of),
        (3, Some(of)) => {
            let body = message.get(end.checked_next_multiple_of(8)?..)?;
            // Most errors carry a text.
            let why = match string_at(body, 0) {
                Some(text) if !text.is_empty() => format!("{text} ({error})"),
                _ => error,
            };
            Received::Refusal { of, why }
        }
        _ => Received::Other,
    })
}

enum Value<'a> {
    Text(&'a str),
    Number(u32),
    Other,
}

/// The fields of a header, up to the first whose type the bus itself never sends.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u8, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let begin = self.at.checked_next_multiple_of(8)?;
        let [code, length, kind, _] = *self.bytes.get(begin..begin.checked_add(4)?)? else { return None };
        if length != 1 {
            return None;
        }
        let at = begin + 4;
        let value = match kind {
            b's' | b'o' => {
                let text = string_at(self.bytes, at)?;
                self.at = at + 4 + text.len() + 1;
                Value::Text(text)
            }
            b'u' => {
                self.at = at + 4;
                Value::Number(number_at(self.bytes, at)? as u32)
            }
            b'g' => {
                self.at = at + 1 + usize::from(*self.bytes.get(at)?) + 1;
                Value::Other
            }
            _ => return None,
        };
        Some((code, value))
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?) as usize)
}

fn string_at(bytes: &[u8], at: usize) -> Option<&str> {
    let begin = at.checked_add(4)?;
    str::from_utf8(bytes.get(begin..begin.checked_add(number_at(bytes, at)?)?)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(body: Body, signature: &str) -> Vec<u8> {
        let destination = Some("a.b");
        Call { destination, path: "/a", interface: "a.b", member: "Do", signature, body }.encode(7)
    }

    #[test]
    fn a_call_is_written_as_the_specification_says() {
        let mut body = Body::default();
        body.string("x");
        body.array(4, |list| list.uint(5));
        let expected: &[&[u8]] = &[
            b"l\x01\0\x01\x10\0\0\0\x07\0\0\0\x49\0\0\0",
            b"\x01\x01o\0\x02\0\0\0/a\0\0\0\0\0\0",
            b"\x02\x01s\0\x03\0\0\0a.b\0\0\0\0\0",
            b"\x03\x01s\0\x02\0\0\0Do\0\0\0\0\0\0",
            b"\x06\x01s\0\x03\0\0\0a.b\0\0\0\0\0",
            b"\x08\x01g\0\x03sau\0\0\0\0\0\0\0\0",
            b"\x01\0\0\0x\0\0\0\x04\0\0\0\x05\0\0\0",
        ];
        let found = call(body, "sau");
        assert_eq!(found, expected.concat());
        assert_eq!(length(&found), Some(found.len()));
    }

    #[test]
    fn a_property_is_aligned_as_a_structure() {
        let mut body = Body::default();
        body.array(8, |list| {
            list.property("A", "b", |value| value.uint(1));
            list.property("B", "s", |value| value.string("c"));
        });
        let expected: &[&[u8]] = &[
            b"\x22\0\0\0\0\0\0\0",
            b"\x01\0\0\0A\0\x01b\0\0\0\0\x01\0\0\0",
            b"\x01\0\0\0B\0\x01s\0\0\0\0\x01\0\0\0c\0",
        ];
        assert_eq!(body.0, expected.concat());
    }

    fn answer(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut out = vec![b'l', kind, 0, 1];
        out.extend((body.len() as u32).to_le_bytes());
        out.extend(3u32.to_le_bytes());
        let fields: &[&[u8]] = &[b"\x05\x01u\0\x07\0\0\0", b"\x04\x01s\0\x03\0\0\0a.E\0"];
        out.extend((fields.concat().len() as u32).to_le_bytes());
        out.extend(fields.concat());
        out.resize(out.len().next_multiple_of(8), 0);
        out.extend_from_slice(body);
        out
    }

    #[test]
    fn answers_are_distinguished() {
        assert_eq!(decode(&answer(2, b"")), Some(Received::Answer(7)));
        assert_eq!(decode(&answer(4, b"")), Some(Received::Other));
        let why = "no (a.E)".to_owned();
        assert_eq!(decode(&answer(3, b"\x02\0\0\0no\0")), Some(Received::Refusal { of: 7, why }));
        let why = "a.E".to_owned();
        assert_eq!(decode(&answer(3, b"")), Some(Received::Refusal { of: 7, why }));
    }

    /// Decoding returns whatever the other side sends.
    #[test]
    fn nonsense_is_not_read() {
        let whole = answer(3, b"\x02\0\0\0no\0");
        for end in 0..whole.len() {
            let _ = (length(&whole[..end]), decode(&whole[..end]));
        }
        let mut huge = whole.clone();
        huge[12..16].copy_from_slice(&[0xff; 4]);
        assert_eq!(decode(&huge), None);
        assert_eq!(length(b"B\x01\0\x01aaaaaaaaaaaa"), None);
    }
}
