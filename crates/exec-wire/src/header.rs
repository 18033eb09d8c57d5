//! The nine bytes before every payload.

use crate::WireError;

/// Bytes of a header: kind, run, length.
pub const HEADER_LEN: usize = 9;

/// The most a data frame (output, input) carries.
pub const MAX_DATA: u32 = 256 * 1024;

/// The most any frame carries: arguments and environment of a command fit with room to spare.
pub const MAX_PAYLOAD: u32 = 4 * 1024 * 1024;

/// What a piece of output costs of the host's credit: its bytes, but at least a small sum, because every
/// piece takes room at the host however short it is.
pub fn credit_cost(len: u32) -> u32 {
    len.max(MIN_CREDIT)
}

/// The least a piece of output costs; a cell with less credit sends nothing.
pub const MIN_CREDIT: u32 = 512;

/// After a run's `Exited`, the rest in its two pipes is sent without credit: at most this much.
pub const MAX_AFTER_EXIT: u32 = 2 * 1024 * 1024 + 128 * 1024;

/// Kind bytes of host → cell frames.
pub(crate) mod to_cell {
    pub(crate) const HELLO: u8 = 0x01;
    pub(crate) const START: u8 = 0x02;
    pub(crate) const STDIN: u8 = 0x03;
    pub(crate) const STDIN_EOF: u8 = 0x04;
    pub(crate) const CREDIT: u8 = 0x05;
    pub(crate) const SIGNAL: u8 = 0x06;
    pub(crate) const RESIZE: u8 = 0x07;
    pub(crate) const STOP: u8 = 0x08;
    pub(crate) const PING: u8 = 0x09;
    pub(crate) const JAIL: u8 = 0x0a;
    pub(crate) const CONTAINER: u8 = 0x0b;
}

/// Kind bytes of cell → host frames.
pub(crate) mod from_cell {
    pub(crate) const READY: u8 = 0x81;
    pub(crate) const STARTED: u8 = 0x82;
    pub(crate) const FAILED: u8 = 0x83;
    pub(crate) const STDOUT: u8 = 0x84;
    pub(crate) const STDERR: u8 = 0x85;
    pub(crate) const STDIN_CREDIT: u8 = 0x86;
    pub(crate) const EXITED: u8 = 0x87;
    pub(crate) const CLOSED: u8 = 0x88;
    pub(crate) const PONG: u8 = 0x89;
    pub(crate) const FATAL: u8 = 0x8a;
}

/// Kind, run and length of a frame, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The kind of the payload.
    pub kind: u8,
    /// The run of this frame; 0 for frames about the cell itself.
    pub run: u32,
    /// Bytes of payload that follow.
    pub len: u32,
}

impl Header {
    /// The header of a chunk of a run's standard output, for writers that send the payload by other means.
    pub const fn stdout(run: u32, len: u32) -> Self {
        Self { kind: from_cell::STDOUT, run, len }
    }

    /// The header of a chunk of a run's standard error.
    pub const fn stderr(run: u32, len: u32) -> Self {
        Self { kind: from_cell::STDERR, run, len }
    }

    /// The header as it is sent.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let [r0, r1, r2, r3] = self.run.to_le_bytes();
        let [l0, l1, l2, l3] = self.len.to_le_bytes();
        [self.kind, r0, r1, r2, r3, l0, l1, l2, l3]
    }

    /// Decodes and checks a header.
    pub fn parse(bytes: [u8; HEADER_LEN]) -> Result<Self, WireError> {
        let [kind, r0, r1, r2, r3, l0, l1, l2, l3] = bytes;
        let header = Self {
            kind,
            run: u32::from_le_bytes([r0, r1, r2, r3]),
            len: u32::from_le_bytes([l0, l1, l2, l3]),
        };
        let max = max_len(kind)?;
        if header.len > max {
            return Err(WireError::TooLong { kind, len: header.len, max });
        }
        Ok(header)
    }

    /// The first frame in `bytes`, or `None` while it is incomplete.
    pub fn split(bytes: &[u8]) -> Result<Option<(Self, &[u8])>, WireError> {
        let Some((head, rest)) = bytes.split_first_chunk::<HEADER_LEN>() else { return Ok(None) };
        let header = Self::parse(*head)?;
        Ok(rest.get(..header.len as usize).map(|payload| (header, payload)))
    }

    /// Bytes of the whole frame.
    pub fn frame_len(self) -> usize {
        HEADER_LEN + self.len as usize
    }
}

fn max_len(kind: u8) -> Result<u32, WireError> {
    match kind {
        to_cell::START | to_cell::JAIL | to_cell::CONTAINER => Ok(MAX_PAYLOAD),
        to_cell::STDIN | from_cell::STDOUT | from_cell::STDERR => Ok(MAX_DATA),
        to_cell::HELLO..=to_cell::PING | from_cell::READY..=from_cell::FATAL => Ok(64 * 1024),
        _ => Err(WireError::UnknownKind(kind)),
    }
}

/// Appends a frame whose payload `body` writes.
pub(crate) fn frame(kind: u8, run: u32, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_LEN]);
    body(out);
    let len = (out.len() - start - HEADER_LEN) as u32;
    out[start..start + HEADER_LEN].copy_from_slice(&Header { kind, run, len }.to_bytes());
}
