//! The part of HTTP needed to remove a container: the text of a request, the first line of an answer.

use exec_wire::reaper::Name;

/// Requests the forced removal of a container, with its anonymous volumes.
pub(super) fn removal(name: &Name) -> String {
    format!(
        "DELETE /containers/{name}?force=true&v=true HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
}

/// Bytes of an answer up to the end of its status: `HTTP/1.1 204`.
pub(super) const STATUS_END: usize = 12;

/// The status of an answer, from its first bytes; `None` if they are not HTTP.
pub(super) fn status(answer: &[u8; STATUS_END]) -> Option<u16> {
    let [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', status @ ..] = answer else {
        return None;
    };
    let digits = status.iter().all(u8::is_ascii_digit);
    digits.then(|| status.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_complete() {
        assert_eq!(
            removal(&Name::new("cell-7").unwrap()),
            "DELETE /containers/cell-7?force=true&v=true HTTP/1.1\r\n\
             Host: localhost\r\n\
             Connection: close\r\n\
             \r\n"
        );
    }

    #[test]
    fn a_status_is_read() {
        assert_eq!(status(b"HTTP/1.1 204"), Some(204));
        assert_eq!(status(b"HTTP/1.0 999"), Some(999));
    }

    #[test]
    fn garbage_is_not_an_answer() {
        for bytes in
            [b"HTTP/2.0 204", b"HTTP/1.1 2x4", b"HTTP/1.1  20", b"SSH-2.0-Open", &[0; 12], &[255; 12]]
        {
            assert_eq!(status(bytes), None, "{bytes:?}");
        }
    }
}
