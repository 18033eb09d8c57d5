//! Commands that try to make connections.

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixStream};
use std::time::Duration;

use crate::command::{Args, misuse};
use crate::sys::{self, Result};

const PATIENCE: Duration = Duration::from_secs(3);

/// `connect tcp|udp ADDRESS:PORT`, `connect unix PATH`, `connect abstract NAME`
pub(crate) fn connect(args: &Args<'_>) -> Result<()> {
    let to = args.text(1);
    match args.text(0).as_str() {
        "tcp" => drop(TcpStream::connect_timeout(&address(&to), PATIENCE)?),
        "udp" => send(address(&to))?,
        "unix" => drop(UnixStream::connect(to)?),
        "abstract" => drop(UnixStream::connect_addr(&UnixAddr::from_abstract_name(to)?)?),
        other => misuse(&format!("`{other}` is not a protocol")),
    }
    sys::say("ok")
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap_or_else(|_| misuse(&format!("`{text}` is not an address and port")))
}

fn send(to: SocketAddr) -> Result<()> {
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    UdpSocket::bind(any)?.send_to(b"x", to)?;
    Ok(())
}
