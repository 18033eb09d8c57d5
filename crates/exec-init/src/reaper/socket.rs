//! One request to the engine on its own connection, in bounded time.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use exec_wire::reaper::Address;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, send, socket_with,
};

use super::http;

/// How long the engine may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeOuts {
    /// To accept a connection, and to take the request.
    pub(super) connect: Duration,
    /// To answer, once it has the request.
    pub(super) answer: Duration,
}

/// A pending request.
#[derive(Debug)]
pub(super) struct Exchange {
    socket: OwnedFd,
    deadline: Instant,
}

impl Exchange {
    /// Connects and sends.
    pub(super) fn begin(engine: &Address, request: &str, time_outs: TimeOuts) -> Result<Self, Errno> {
        let socket = dial(engine, time_outs.connect)?;
        let mut rest = request.as_bytes();
        while !rest.is_empty() {
            let sent = send(&socket, rest, SendFlags::NOSIGNAL)?;
            rest = rest.get(sent..).unwrap_or_default();
        }
        Ok(Self { socket, deadline: Instant::now() + time_outs.answer })
    }

    /// The status of the answer; `None` if there is none in time. The rest of the answer is not read.
    pub(super) fn status(self) -> Option<u16> {
        let mut answer = [0; http::STATUS_END];
        let mut rest = answer.as_mut_slice();
        while !rest.is_empty() {
            let left = self.deadline.checked_duration_since(Instant::now())?;
            // A zero timeout would mean no timeout.
            let left = left.max(Duration::from_millis(1));
            set_socket_timeout(&self.socket, Timeout::Recv, Some(left)).ok()?;
            match rustix::io::read(&self.socket, &mut *rest) {
                Ok(0) | Err(_) => return None,
                Ok(count) => rest = rest.get_mut(count..).unwrap_or_default(),
            }
        }
        http::status(&answer)
    }
}

fn dial(engine: &Address, time_out: Duration) -> Result<OwnedFd, Errno> {
    let family = match engine {
        Address::Unix(_) => AddressFamily::UNIX,
        Address::Tcp(address) if address.is_ipv4() => AddressFamily::INET,
        Address::Tcp(_) => AddressFamily::INET6,
    };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Applies to sending, and on Linux to connecting too: an engine that accepts no connections would block
    // us forever.
    set_socket_timeout(&socket, Timeout::Send, Some(time_out))?;
    match engine {
        Address::Unix(path) => connect(&socket, &SocketAddrUnix::new(path.as_bytes())?)?,
        Address::Tcp(address) => connect(&socket, address)?,
    }
    Ok(socket)
}
