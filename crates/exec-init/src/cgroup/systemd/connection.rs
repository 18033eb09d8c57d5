//! A connection to a D-Bus socket: one request at a time, in bounded time.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, send,
    socket_with,
};

use super::message::{self, Body, Call, Received};

/// Longer messages are rejected.
const LONGEST: usize = 1 << 16;

/// The program at the other end of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// A bus. It expects a greeting, and a destination in every message.
    Bus,
    /// The service manager itself.
    Manager,
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    serial: u32,
    deadline: Instant,
}

impl Connection {
    /// Connects and authenticates. All use of the connection ends by `deadline`.
    pub(super) fn open(path: &str, peer: Peer, deadline: Instant) -> Result<Self, String> {
        let socket = dial(path, deadline).map_err(|why| format!("{path}: {why}"))?;
        let mut connection = Self { socket, serial: 0, deadline };
        connection.authenticate().map_err(|why| format!("{path}: {why}"))?;
        if peer == Peer::Bus {
            connection.ask(&Call {
                destination: Some("org.freedesktop.DBus"),
                path: "/org/freedesktop/DBus",
                interface: "org.freedesktop.DBus",
                member: "Hello",
                signature: "",
                body: Body::default(),
            })?;
        }
        Ok(connection)
    }

    /// Sends a request and waits for the reply.
    pub(super) fn ask(&mut self, call: &Call<'_>) -> Result<(), String> {
        self.serial += 1;
        self.write(&call.encode(self.serial)).map_err(|why| format!("{}: {why}", call.member))?;
        loop {
            match self.receive().map_err(|why| format!("{}: {why}", call.member))? {
                Received::Answer(of) if of == self.serial => return Ok(()),
                Received::Refusal { of, why } if of == self.serial => {
                    return Err(format!("{}: {why}", call.member));
                }
                _ => {}
            }
        }
    }

    /// The kernel identifies us to the other side; the name in the request only has to match.
    fn authenticate(&mut self) -> Result<(), Errno> {
        let user = rustix::process::geteuid().as_raw().to_string();
        // In hexadecimal a digit is a 3 followed by itself.
        let name: String = user.chars().flat_map(|digit| ['3', digit]).collect();
        self.write(format!("\0AUTH EXTERNAL {name}\r\n").as_bytes())?;
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            // The peer sends nothing after its answer until we begin, so reading single bytes loses nothing.
            line.extend(self.read(1)?);
            if line.len() > 256 {
                return Err(Errno::MSGSIZE);
            }
        }
        if !line.starts_with(b"OK ") {
            return Err(Errno::ACCESS);
        }
        self.write(b"BEGIN\r\n")
    }

    fn receive(&mut self) -> Result<Received, Errno> {
        let mut message = self.read(message::FIXED)?;
        let length = message::length(&message).filter(|length| *length <= LONGEST).ok_or(Errno::BADMSG)?;
        message.extend(self.read(length.saturating_sub(message.len()))?);
        message::decode(&message).ok_or(Errno::BADMSG)
    }

    fn write(&self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            set_socket_timeout(&self.socket, Timeout::Send, Some(left(self.deadline)?))?;
            match send(&self.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(Errno::TIMEDOUT),
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    fn read(&self, length: usize) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; length];
        let mut rest = bytes.as_mut_slice();
        while !rest.is_empty() {
            set_socket_timeout(&self.socket, Timeout::Recv, Some(left(self.deadline)?))?;
            match recv(&self.socket, &mut *rest, RecvFlags::empty()) {
                Ok((_, 0)) => return Err(Errno::CONNRESET),
                Ok((_, count)) => rest = rest.get_mut(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(Errno::TIMEDOUT),
                Err(why) => return Err(why),
            }
        }
        Ok(bytes)
    }
}

fn dial(path: &str, deadline: Instant) -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Applies to sending, and on Linux to connecting too.
    set_socket_timeout(&socket, Timeout::Send, Some(left(deadline)?))?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// A zero timeout would mean no timeout.
fn left(deadline: Instant) -> Result<Duration, Errno> {
    let left = deadline.checked_duration_since(Instant::now()).ok_or(Errno::TIMEDOUT)?;
    Ok(left.max(Duration::from_millis(1)))
}
