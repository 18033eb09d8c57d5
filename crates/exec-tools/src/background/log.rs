//! Recent output of a background command: bounded by bytes and by count, with exact cursors. Pure.

use std::collections::VecDeque;

use exec_core::Stream;

use crate::output::whole_characters;

/// The most pieces kept. Small writes of one stream are joined, so only alternating streams can reach this.
const MOST_PIECES: usize = 4096;

/// Pieces up to this size are extended.
const JOINED: usize = 8 * 1024;

/// The end of a command's output, both streams in the order they were read.
#[derive(Debug)]
pub(super) struct Log {
    pieces: VecDeque<Piece>,
    kept: usize,
    most: usize,
    end: u64,
}

#[derive(Debug)]
struct Piece {
    stream: Stream,
    bytes: Vec<u8>,
}

/// One page of output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Bytes before it that are no longer kept.
    pub(crate) lost: u64,
    /// The output, in order.
    pub(crate) pieces: Vec<(Stream, Vec<u8>)>,
    /// The cursor of the next page.
    pub(crate) next: u64,
    /// Bytes available that did not fit.
    pub(crate) more: u64,
}

impl Page {
    /// Leaves an incomplete character at the end for the next page.
    pub(crate) fn hold_back(&mut self) {
        let first = self.pieces.len() == 1;
        let Some((_, bytes)) = self.pieces.last_mut() else { return };
        let whole = whole_characters(bytes).len();
        if whole == 0 && first {
            // Holding it back would give a waiting reader an empty page again and again.
            return;
        }
        let held = bytes.len() - whole;
        bytes.truncate(whole);
        self.next -= held as u64;
        self.more += held as u64;
    }
}

impl Log {
    pub(super) fn new(most: usize) -> Self {
        Self { pieces: VecDeque::new(), kept: 0, most, end: 0 }
    }

    /// Bytes written so far.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.end += bytes.len() as u64;
        self.kept += bytes.len();
        match self.pieces.back_mut() {
            Some(last) if last.stream == stream && last.bytes.len() < JOINED => {
                last.bytes.extend_from_slice(bytes);
            }
            _ => self.pieces.push_back(Piece { stream, bytes: bytes.to_vec() }),
        }
        while self.kept > self.most || self.pieces.len() > MOST_PIECES {
            self.drop_first();
        }
    }

    /// Drops the first piece, or only its beginning if that is enough.
    fn drop_first(&mut self) {
        let whole = self.pieces.len() > MOST_PIECES;
        let too_many = self.kept.saturating_sub(self.most);
        let Some(first) = self.pieces.front_mut() else { return };
        let dropped = if whole { first.bytes.len() } else { first.bytes.len().min(too_many) };
        if dropped == first.bytes.len() {
            self.pieces.pop_front();
        } else {
            first.bytes.drain(..dropped);
        }
        self.kept -= dropped;
    }

    /// The output from `cursor` on, at most `most` bytes of it. A cursor beyond the end reads nothing.
    pub(super) fn read(&self, cursor: u64, most: usize) -> Page {
        let first = self.end - self.kept as u64;
        let from = cursor.clamp(first, self.end);
        let (mut skip, mut room) = ((from - first) as usize, most);
        let mut pieces = Vec::new();
        for piece in &self.pieces {
            let bytes = piece.bytes.get(skip..).unwrap_or_default();
            skip = skip.saturating_sub(piece.bytes.len());
            let taken = bytes.get(..room).unwrap_or(bytes);
            if !taken.is_empty() {
                pieces.push((piece.stream, taken.to_vec()));
                room -= taken.len();
            }
        }
        let next = from + (most - room) as u64;
        Page { lost: first.saturating_sub(cursor), pieces, next, more: self.end - next }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream(odd: bool) -> Stream {
        if odd { Stream::Stderr } else { Stream::Stdout }
    }

    proptest! {
        /// R80: reading page by page returns every byte that was not lost, in order, and the lost ones are counted.
        #[test]
        fn pages_are_what_was_written(
            writes in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..50)), 0..50),
            most in 1usize..400,
            page in 1usize..60,
        ) {
            let mut log = Log::new(most);
            let all: Vec<u8> = writes.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
            for (odd, bytes) in &writes {
                log.push(stream(*odd), bytes);
            }
            prop_assert!(log.kept <= most);
            let (mut cursor, mut read, mut lost) = (0, Vec::new(), 0);
            loop {
                let page = log.read(cursor, page);
                lost += page.lost;
                read.extend(page.pieces.iter().flat_map(|(_, bytes)| bytes));
                cursor = page.next;
                if page.more == 0 {
                    break;
                }
            }
            prop_assert_eq!(cursor, all.len() as u64);
            prop_assert_eq!(lost as usize + read.len(), all.len());
            prop_assert!(all.ends_with(&read));
        }
    }

    #[test]
    fn streams_stay_apart_and_the_future_is_empty() {
        let mut log = Log::new(100);
        log.push(Stream::Stdout, b"a");
        log.push(Stream::Stdout, b"b");
        log.push(Stream::Stderr, b"c");
        let page = log.read(1, 100);
        assert_eq!(page.pieces, [(Stream::Stdout, b"b".to_vec()), (Stream::Stderr, b"c".to_vec())]);
        assert_eq!(log.read(99, 100), Page { lost: 0, pieces: vec![], next: 3, more: 0 });
    }

    #[test]
    fn half_a_character_waits_for_the_other_half() {
        let mut log = Log::new(100);
        log.push(Stream::Stdout, "a→".as_bytes().split_at(2).0);
        let mut page = log.read(0, 100);
        page.hold_back();
        assert_eq!((&page.pieces[..], page.next), (&[(Stream::Stdout, b"a".to_vec())][..], 1));
        log.push(Stream::Stdout, "a→".as_bytes().split_at(2).1);
        assert_eq!(log.read(page.next, 100).pieces[0].1, "→".as_bytes());
    }

    #[test]
    fn many_small_pieces_are_bounded_too() {
        let mut log = Log::new(usize::MAX);
        (0..MOST_PIECES + 10).for_each(|n| log.push(stream(n % 2 == 0), b"x"));
        assert_eq!(log.pieces.len(), MOST_PIECES);
        assert_eq!(log.read(0, usize::MAX).lost, 10);
    }
}
