//! The process between the cell and one command of a session.
//!
//! Every descendant whose parent ends becomes the runner's child, whatever sessions and groups it made for
//! itself. So the run's processes are exactly those below the runner, and they can be found and killed without
//! touching another run. It reports the command's end, and leaves when nothing is left below it. When the cell
//! itself is gone it kills what it has.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use exec_wire::{Stage, Status};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use super::launch::{ChildStdio, Launch};
use super::reap::status_of;
use super::report::Reporter;
use super::sweep;
use crate::fence::Fence;
use crate::sys::{self, Change, Fork, Pid, Range, Rusage};

/// How long a runner without a cell tries to get rid of what it has.
const LAST_KILL: Duration = Duration::from_secs(5);

/// The cell's view of a runner.
pub(crate) struct Runner {
    pub(crate) pid: Pid,
    pub(crate) state: State,
    socket: OwnedFd,
}

/// What a runner has below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The command, or what it left.
    Busy,
    /// Nothing: the runner is about to end.
    Empty,
    /// The runner itself is no more.
    Gone,
}

/// What a runner says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    /// The command ended; what was used until then.
    Exited(Status, Rusage),
    /// Nothing is left of the run; what was used in all.
    Empty(Rusage),
    /// The runner is gone.
    Gone,
}

/// Two connected ends that keep messages apart.
pub(crate) fn channel() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
}

impl Runner {
    pub(crate) fn new(pid: Pid, socket: OwnedFd) -> Self {
        Self { pid, state: State::Busy, socket }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Signals the command's process group, by the only process that knows for sure whether it still exists.
    pub(crate) fn signal(&self, signal: i32) {
        let _ = rustix::net::send(&self.socket, &signal.to_le_bytes(), SendFlags::NOSIGNAL);
    }

    pub(crate) fn news(&self) -> Option<News> {
        let mut bytes = [0; MESSAGE_LEN];
        match rustix::net::recv(&self.socket, &mut bytes, RecvFlags::empty()) {
            Ok((_, MESSAGE_LEN)) => decode(&bytes),
            Err(Errno::AGAIN | Errno::INTR) => None,
            Ok(_) | Err(_) => Some(News::Gone),
        }
    }
}

/// Kind, status, user time, system time, peak memory.
const MESSAGE_LEN: usize = 1 + 4 + 3 * 8;

fn encode(kind: u8, value: i32, usage: Rusage) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MESSAGE_LEN);
    bytes.push(kind);
    bytes.extend_from_slice(&value.to_le_bytes());
    for number in [usage.user_us, usage.system_us, usage.peak_memory] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes
}

fn decode(bytes: &[u8]) -> Option<News> {
    let (kind, rest) = bytes.split_first()?;
    let (value, mut rest) = rest.split_first_chunk()?;
    let value = i32::from_le_bytes(*value);
    let mut number = || {
        let (number, after) = rest.split_first_chunk()?;
        rest = after;
        Some(u64::from_le_bytes(*number))
    };
    let usage = Rusage { user_us: number()?, system_us: number()?, peak_memory: number()? };
    match kind {
        0 => Some(News::Exited(Status::Code(value), usage)),
        1 => Some(News::Exited(Status::Signal(value), usage)),
        _ => Some(News::Empty(usage)),
    }
}

/// What a runner is, from its fork to its end.
pub(crate) fn run(
    launch: &Launch,
    stdio: ChildStdio,
    fence: &Fence,
    reporter: Reporter,
    socket: OwnedFd,
) -> ! {
    let own = rustix::process::getpid();
    if let Err(errno) = rustix::process::set_child_subreaper(Some(own)) {
        reporter.pid(0);
        reporter.failure(Stage::Fork, errno);
        sys::exit_now(1);
    }
    let command = match sys::fork() {
        Ok(Fork::Child) => {
            reporter.pid(std::process::id() as Pid);
            launch.run(&stdio, fence, &reporter)
        }
        Ok(Fork::Parent(pid)) => pid,
        Err(errno) => {
            reporter.pid(0);
            reporter.failure(Stage::Fork, errno);
            sys::exit_now(1);
        }
    };
    drop((stdio, reporter));
    close_all_but(&socket);
    let Ok(events) = sys::child_events() else { sys::exit_now(1) };
    Keeper { command: Some(command), socket, events }.run()
}

/// The fork copied every descriptor of the cell, other commands' pipes among them.
fn close_all_but(kept: &OwnedFd) {
    let kept = kept.as_raw_fd().unsigned_abs();
    sys::descriptors(3, kept.saturating_sub(1), Range::Close);
    sys::descriptors(kept.saturating_add(1), u32::MAX, Range::Close);
}

struct Keeper {
    command: Option<Pid>,
    socket: OwnedFd,
    events: OwnedFd,
}

impl Keeper {
    fn run(mut self) -> ! {
        loop {
            self.reap();
            let mut fds =
                [PollFd::new(&self.events, PollFlags::IN), PollFd::new(&self.socket, PollFlags::IN)];
            let _ = rustix::event::poll(&mut fds, None);
            self.clear_events();
            self.obey();
        }
    }

    fn reap(&mut self) {
        loop {
            match sys::wait_any() {
                Ok(Some((_, Change::Stopped))) => {}
                Ok(Some((pid, change))) if self.command == Some(pid) => {
                    self.command = None;
                    let (kind, value) = match status_of(change) {
                        Status::Code(code) => (0, code),
                        Status::Signal(signal) => (1, signal),
                    };
                    self.tell(&encode(kind, value, sys::children_usage()));
                }
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(_) => {
                    self.tell(&encode(2, 0, sys::children_usage()));
                    sys::exit_now(0)
                }
            }
        }
    }

    /// At most two messages are ever sent, so the socket has room for them.
    fn tell(&self, message: &[u8]) {
        let _ = rustix::net::send(&self.socket, message, SendFlags::NOSIGNAL);
    }

    fn clear_events(&self) {
        let mut info = [0; 512];
        while rustix::io::read(&self.events, &mut info).is_ok_and(|count| count > 0) {}
    }

    fn obey(&self) {
        let mut bytes = [0; 4];
        loop {
            match rustix::net::recv(&self.socket, &mut bytes, RecvFlags::empty()) {
                Ok((_, 4)) => {
                    if let Some(command) = self.command {
                        let signal = i32::from_le_bytes(bytes);
                        // Before it has a group of its own there is only the process.
                        let _ = sys::kill(-command, signal).or_else(|_| sys::kill(command, signal));
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => return,
                Ok(_) | Err(_) => last_kill(),
            }
        }
    }
}

/// Nobody is left to report to: everything below goes, and then the runner itself.
fn last_kill() -> ! {
    let deadline = Instant::now() + LAST_KILL;
    let own = std::process::id() as Pid;
    while Instant::now() < deadline {
        sweep::pass(own, &[]);
        loop {
            match sys::wait_any() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => sys::exit_now(0),
            }
        }
        sys::pause(Duration::from_millis(1));
    }
    sys::exit_now(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_arrive_as_told() {
        let usage = Rusage { user_us: 1, system_us: 2, peak_memory: 3 };
        assert_eq!(decode(&encode(0, 5, usage)), Some(News::Exited(Status::Code(5), usage)));
        assert_eq!(decode(&encode(1, 9, usage)), Some(News::Exited(Status::Signal(9), usage)));
        assert_eq!(decode(&encode(2, 0, usage)), Some(News::Empty(usage)));
        assert_eq!(decode(&[0; 3]), None);
    }
}
