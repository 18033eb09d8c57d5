//! The process between the cell and one command of a session.
//!
//! Every descendant whose parent ends becomes the runner's child, even if it made its own session or group.
//! So the run's processes are exactly the runner's descendants, and can be found and killed without touching
//! another run. The runner reports the command's end and exits when it has no descendants left. When the cell
//! itself is gone, it kills its descendants.

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

/// How long a runner without a cell tries to kill its descendants.
const LAST_KILL: Duration = Duration::from_secs(5);

/// The cell's view of a runner.
pub(crate) struct Runner {
    pub(crate) pid: Pid,
    pub(crate) state: State,
    socket: OwnedFd,
}

/// The descendants of a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The command, or processes it left behind.
    Busy,
    /// None: the runner is about to end.
    Empty,
    /// The runner itself has ended.
    Gone,
}

/// A message from a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    /// The command ended; resources used until then.
    Exited(Status, Rusage),
    /// Nothing is left of the run; resources used in total.
    Empty(Rusage),
    /// The runner ended.
    Gone,
}

/// A connected pair of sockets that preserves message boundaries.
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

    /// Signals the command's process group through the runner, which alone knows for certain whether the
    /// group still exists.
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

/// The runner's whole life, from its fork to its end.
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

/// Closes the copies the fork made of the cell's descriptors, including other commands' pipes.
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

    /// Sends a message. At most two are ever sent, so the socket has room.
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
                        // Until the process has its own group, only the process can be signalled.
                        let _ = sys::kill(-command, signal).or_else(|_| sys::kill(command, signal));
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => return,
                Ok(_) | Err(_) => last_kill(),
            }
        }
    }
}

/// Kills every descendant, then ends the runner: the cell is gone.
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
    fn messages_arrive_as_sent() {
        let usage = Rusage { user_us: 1, system_us: 2, peak_memory: 3 };
        assert_eq!(decode(&encode(0, 5, usage)), Some(News::Exited(Status::Code(5), usage)));
        assert_eq!(decode(&encode(1, 9, usage)), Some(News::Exited(Status::Signal(9), usage)));
        assert_eq!(decode(&encode(2, 0, usage)), Some(News::Empty(usage)));
        assert_eq!(decode(&[0; 3]), None);
    }
}
