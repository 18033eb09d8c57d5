//! Hears of a kill for memory when it happens.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::linux::{kills, open_events};

/// It only reads and waits.
const STACK: usize = 64 << 10;

/// Listens until it is dropped, on a thread of its own: only `poll` hears this notice of the kernel's.
#[derive(Debug)]
pub(crate) struct Notice {
    /// Its end is the end of listening.
    _until: Option<OwnedFd>,
}

impl Notice {
    /// Calls `tell` once when the kernel has killed something in the container to get memory. Never does so on v1, where
    /// the kernel gives no notice, nor where no thread can be started.
    pub(crate) fn listen(id: String, tell: impl FnOnce() + Send + 'static) -> Self {
        let Ok((dropped, until)) = pipe_with(PipeFlags::CLOEXEC) else { return Self { _until: None } };
        let listen = move || {
            if open_events(&id).is_some_and(|events| kill_in(&events, &dropped)) {
                tell();
            }
        };
        let thread = std::thread::Builder::new().name("memory notice".into()).stack_size(STACK);
        let listening = thread.spawn(listen);
        if let Err(error) = &listening {
            tracing::debug!(%error, "kills for memory are not listened for");
        }
        Self { _until: listening.ok().map(|_| until) }
    }
}

/// Whether there was one before the group went or the listening ended.
fn kill_in(events: &File, dropped: &OwnedFd) -> bool {
    let mut is_last = false;
    loop {
        let mut text = [0; 1024];
        let Ok(length) = events.read_at(&mut text, 0) else { return false };
        if kills(&String::from_utf8_lossy(text.get(..length).unwrap_or_default())) > 0 {
            return true;
        }
        if is_last {
            return false;
        }
        let mut ready = [PollFd::new(events, PollFlags::PRI), PollFd::new(dropped, PollFlags::empty())];
        match poll(&mut ready, None) {
            // Both may have come at once: one more look.
            Ok(_) => is_last = ready.iter().skip(1).any(|dropped| !dropped.revents().is_empty()),
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
