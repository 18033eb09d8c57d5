//! Bytes as they come from a stream: whatever they are, each frame is refused or means exactly itself.
#![no_main]

use exec_wire::{FromCell, Header, ToCell};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|stream: &[u8]| {
    let mut rest = stream;
    while let Ok(Some((header, payload))) = Header::split(rest) {
        let (frame, after) = rest.split_at(header.frame_len());
        let mut again = Vec::new();
        if let Ok(value) = ToCell::decode(&header, payload) {
            value.encode(header.run, &mut again);
            assert_eq!(again, frame);
            again.clear();
        }
        if let Ok(value) = FromCell::decode(&header, payload) {
            value.encode(header.run, &mut again);
            assert_eq!(again, frame);
        }
        rest = after;
    }
});
