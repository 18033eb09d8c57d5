//! Processes that are distinguishable from all others on the machine: `sleep` with a unique number.

use std::fmt;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{OUTER_LIMIT, eventually};

/// A number of seconds that no other process sleeps for.
#[derive(Debug)]
pub(crate) struct Marker(String);

impl Marker {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Self(format!("9{:07}{:05}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Shell that leaves such a process behind, in its own session and detached from its parent.
    pub(crate) fn daemon(&self) -> String {
        format!("(setsid setsid sleep {self} &)")
    }

    /// Whether one is alive.
    pub(crate) fn is_alive(&self) -> bool {
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok()).any(|cmdline| {
            let mut words = cmdline.split(|byte| *byte == 0);
            words.next().is_some_and(|program| program.ends_with(b"sleep"))
                && words.next() == Some(self.0.as_bytes())
        })
    }

    /// The positive control: the process is alive, and visible to us.
    pub(crate) fn assert_appears(&self) {
        assert!(eventually(OUTER_LIMIT, || self.is_alive()), "sleep {self} should be alive and visible");
    }

    /// No such process is alive now.
    pub(crate) fn assert_gone(&self) {
        assert!(!self.is_alive(), "sleep {self} is alive");
    }

    /// R11
    pub(crate) fn assert_gone_within(&self, limit: Duration) {
        assert!(eventually(limit, || !self.is_alive()), "sleep {self} is alive after {limit:?}");
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
