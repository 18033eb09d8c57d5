//! The reaper against misbehaving engines, with little patience.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;

use exec_wire::reaper::SocketPath;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

use super::*;
use crate::reaper::sweep::{LeftBehind, Target};

const HASTY: Bounds = Bounds {
    removal: Removal::Final,
    absent: Duration::from_millis(50),
    patience: Duration::from_millis(200),
    pause: Duration::from_millis(10),
    together: 8,
};

const SHORT: TimeOuts = TimeOuts { connect: Duration::from_millis(50), answer: Duration::from_millis(50) };

/// Sweeps three names.
fn sweep_three(mut engine: Engine, bounds: &Bounds) -> Result<(), LeftBehind> {
    let targets = ["a", "b", "c"].map(|name| Target::expected(Name::new(name).unwrap()));
    sweep::sweep(targets.into(), &mut engine, bounds)
}

/// Sweeps with short timeouts at a socket in its own directory, which `serve` may make.
fn sweep_with<T>(serve: impl FnOnce(&[u8]) -> T) -> Result<(), LeftBehind> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("engine.sock").into_os_string().into_encoded_bytes();
    let _kept = serve(&path);
    let address = Address::Unix(SocketPath::new(path).unwrap());
    sweep_three(Engine { address, time_outs: SHORT, fifo_channels: None }, &HASTY)
}

/// A server that sends `answer` to every request and keeps the connection open.
fn says(answer: &'static str) -> impl FnOnce(&[u8]) {
    move |path| {
        let listener = UnixListener::bind(str::from_utf8(path).unwrap()).unwrap();
        std::thread::spawn(move || {
            let mut lines = Vec::new();
            for stream in listener.incoming() {
                lines.push(respond(stream.unwrap(), answer));
            }
        });
    }
}

fn respond<S: Read + Write>(mut stream: S, answer: &str) -> S {
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        seen.extend(byte);
    }
    // A reaper that has read enough may be gone.
    let _ = stream.write_all(answer.as_bytes());
    stream
}

#[test]
fn an_engine_may_be_at_a_port() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        for _ in 0..3 {
            respond(listener.accept().unwrap().0, "HTTP/1.0 200 OK\r\n\r\n{}");
        }
    });
    let engine = Engine { address: Address::Tcp(address), time_outs: TIME_OUTS, fifo_channels: None };
    assert_eq!(sweep_three(engine, &BOUNDS), Ok(()));
    server.join().unwrap();
}

#[test]
fn an_unreachable_engine_is_given_up() {
    assert_eq!(sweep_with(|_| ()), Err(LeftBehind));
}

#[test]
fn an_engine_that_talks_nonsense_is_given_up() {
    for nonsense in ["", "HTTP", "SSH-2.0-OpenSSH_9.2p1\r\n", "HTTP/1.1 ???", "HTTP/1.1 500 Oh\r\n\r\n"] {
        assert_eq!(sweep_with(says(nonsense)), Err(LeftBehind), "{nonsense}");
    }
}

#[test]
fn an_engine_that_hangs_is_given_up() {
    let hangs = |path: &[u8]| UnixListener::bind(str::from_utf8(path).unwrap()).unwrap();
    assert_eq!(sweep_with(hangs), Err(LeftBehind));
}

/// Its queue is so short that even connecting would wait forever.
#[test]
fn an_engine_that_takes_no_connections_is_given_up() {
    let full = |path: &[u8]| -> OwnedFd {
        let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        bind(&listener, &SocketAddrUnix::new(path).unwrap()).unwrap();
        listen(&listener, 0).unwrap();
        listener
    };
    assert_eq!(sweep_with(full), Err(LeftBehind));
}
