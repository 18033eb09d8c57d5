//! The list of trusted files: each line has the SHA-256 of a file's bytes and its path.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// All trusted files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    entries: Vec<(String, PathBuf)>,
}

impl Record {
    /// Lines that can't be parsed are ignored, so their files are not trusted.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let entry = |line: &str| {
            let (sum, path) = line.split_once(' ')?;
            Some((sum.to_owned(), unescape(path)?))
        };
        Self { entries: text.lines().filter_map(entry).collect() }
    }

    pub(crate) fn write(&self) -> String {
        let lines: Vec<String> =
            self.entries.iter().map(|(sum, path)| format!("{sum} {}\n", escape(path))).collect();
        lines.concat()
    }

    /// Whether this path is trusted with these bytes.
    pub(crate) fn trusts(&self, path: &Path, bytes: &[u8]) -> bool {
        let sum = checksum(bytes);
        self.entries.iter().any(|(known, at)| at == path && *known == sum)
    }

    /// Trusts these bytes at this path, and no others.
    pub(crate) fn trust(&mut self, path: &Path, bytes: &[u8]) {
        self.forget(path);
        self.entries.push((checksum(bytes), path.to_owned()));
    }

    /// Stops trusting a path and returns whether it was trusted.
    pub(crate) fn forget(&mut self, path: &Path) -> bool {
        let before = self.entries.len();
        self.entries.retain(|(_, at)| at != path);
        self.entries.len() < before
    }
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Encodes a path as one line of plain characters: a newline in a path must not add a line to the list.
fn escape(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' => text.push_str("\\5c"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => {
                let _ = write!(text, "\\{byte:02x}");
            }
        }
    }
    text
}

fn unescape(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'\\' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(path_of(bytes))
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    <std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes).into()
}

/// Bytes that are not UTF-8 give a path that does not exist.
#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_path_are_what_is_trusted() {
        let mut record = Record::default();
        let path = Path::new("/p/.agentctl.toml");
        record.trust(path, b"network = 'host'");
        assert!(record.trusts(path, b"network = 'host'"));
        assert!(!record.trusts(path, b"network = 'host' "), "other bytes");
        assert!(!record.trusts(Path::new("/q/.agentctl.toml"), b"network = 'host'"), "another place");
        record.trust(path, b"second");
        assert!(!record.trusts(path, b"network = 'host'"), "the last entry counts");
        assert!(record.forget(path) && !record.forget(path));
    }

    #[test]
    fn it_is_what_sha256sum_says() {
        assert_eq!(checksum(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    /// A38: a directory's name cannot forge an entry.
    #[test]
    fn a_path_is_one_line() {
        for path in ["/a b/c", "/a\nb", "/ü\\5c", "/\t"] {
            let mut record = Record::default();
            record.trust(Path::new(path), b"x");
            let text = record.write();
            assert_eq!(text.lines().count(), 1, "{text}");
            assert_eq!(Record::parse(text.as_bytes()), record, "{text}");
        }
        assert_eq!(Record::parse(b"nonsense\n\xff\xff\nabc /x\\zz\n"), Record::default());
    }
}
