//! Notices a kill for lack of memory when it happens.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::linux::{kills, open_events};

/// The thread only reads and waits.
const STACK: usize = 64 << 10;

/// Listens until dropped, on its own thread: only `poll` receives this signal of the kernel.
#[derive(Debug)]
pub(crate) struct Notice {
    /// Closing it ends the listening.
    _until: Option<OwnedFd>,
}

impl Notice {
    /// Calls `tell` once when the kernel has killed a process of the container for lack of memory. Never on v1, where
    /// the kernel sends no signal, nor if no thread can be started.
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

/// Whether a kill happened before the group was removed or the listening ended.
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
            // Both may be ready at once: read once more.
            Ok(_) => is_last = ready.iter().skip(1).any(|dropped| !dropped.revents().is_empty()),
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
