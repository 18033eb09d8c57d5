//! A blocking host of one cell, for tests: writes frames and reads frames.
#![cfg(target_os = "linux")]
#![allow(dead_code, reason = "every test file uses another part")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests say what went wrong by failing"
)]

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio as ProcessStdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use exec_wire::{
    Closed, Exited, Facts, Failed, FromCell, HEADER_LEN, Header, Lifetime, Limits, PROTOCOL_VERSION, Start,
    Stdio, ToCell, WindowSize,
};

/// Longer than anything takes; a test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The walls around the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walls {
    /// PID 1 of a PID namespace.
    Namespace,
    /// A child subreaper.
    Subreaper,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Ready(Facts),
    Started(u32),
    Failed(Failed),
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    StdinCredit(u32),
    Exited(Exited),
    Closed(Closed),
    Pong(u64),
    Fatal(String),
}

pub(crate) struct Cell {
    child: Child,
    input: Option<ChildStdin>,
    frames: Receiver<(u32, Event)>,
    pub(crate) facts: Option<Facts>,
}

/// Everything a run sent until it was closed.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) exited: Exited,
    pub(crate) closed: Closed,
}

impl Outcome {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// Returns false, with a note, where this machine allows no namespaces.
pub(crate) fn has_namespaces() -> bool {
    let probe = Command::new("unshare").args(NAMESPACE).arg("true").output();
    let can = probe.is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: this machine does not allow PID namespaces");
    }
    can
}

const NAMESPACE: [&str; 5] = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];

impl Cell {
    /// A cell that has not been greeted yet.
    pub(crate) fn silent(walls: Walls) -> Self {
        let program = env!("CARGO_BIN_EXE_exec-init");
        let command = match walls {
            Walls::Subreaper => Command::new(program),
            Walls::Namespace => {
                let mut command = Command::new("unshare");
                command.args(NAMESPACE).arg("--kill-child").arg(program);
                command
            }
        };
        Self::of(command)
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child =
            command.stdin(ProcessStdio::piped()).stdout(ProcessStdio::piped()).spawn().expect("spawn");
        let mut output = child.stdout.take().expect("piped");
        let (sender, frames) = channel();
        std::thread::spawn(move || {
            while let Some(frame) = read_frame(&mut output) {
                if sender.send(frame).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, frames, facts: None }
    }

    /// A cell on a socket pair, the way local cells are reached.
    pub(crate) fn on_socket() -> (Child, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("socket pair");
        let copy = theirs.try_clone().expect("copy");
        let child = Command::new(env!("CARGO_BIN_EXE_exec-init"))
            .stdin(OwnedFd::from(theirs))
            .stdout(OwnedFd::from(copy))
            .spawn()
            .expect("spawn");
        ours.set_read_timeout(Some(PATIENCE)).expect("time-out");
        (child, ours)
    }

    /// A cell that is ready.
    pub(crate) fn new(walls: Walls) -> Self {
        let mut cell = Self::silent(walls);
        cell.greet();
        cell
    }

    pub(crate) fn greet(&mut self) {
        self.send(0, &ToCell::Hello { version: PROTOCOL_VERSION });
        match self.next() {
            (0, Event::Ready(facts)) => self.facts = Some(facts),
            other => panic!("no greeting: {other:?}"),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, run: u32, frame: &ToCell<'_>) {
        let mut bytes = Vec::new();
        frame.encode(run, &mut bytes);
        self.send_bytes(&bytes);
    }

    /// Sends a frame that the cell may refuse to read.
    pub(crate) fn try_send(&mut self, run: u32, frame: &ToCell<'_>) {
        let mut bytes = Vec::new();
        frame.encode(run, &mut bytes);
        let _ = self.input.as_mut().expect("open").write_all(&bytes);
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().expect("open").write_all(bytes).expect("the cell reads");
    }

    pub(crate) fn start(&mut self, run: u32, start: Start) {
        self.send(run, &ToCell::Start(Box::new(start)));
    }

    pub(crate) fn credit(&mut self, run: u32, bytes: u32) {
        self.send(run, &ToCell::Credit(bytes));
    }

    pub(crate) fn next(&mut self) -> (u32, Event) {
        self.frames.recv_timeout(PATIENCE).expect("a frame")
    }

    /// Returns `None` when nothing arrives for that long.
    pub(crate) fn next_within(&mut self, time: Duration) -> Option<(u32, Event)> {
        match self.frames.recv_timeout(time) {
            Ok(frame) => Some(frame),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the cell is gone"),
        }
    }

    pub(crate) fn ping(&mut self) {
        self.send(0, &ToCell::Ping(99));
        assert_eq!(self.next(), (0, Event::Pong(99)));
    }

    /// Waits for a command to start and returns its pid.
    pub(crate) fn started(&mut self, run: u32) -> u32 {
        match self.next() {
            (id, Event::Started(pid)) if id == run => pid,
            other => panic!("not started: {other:?}"),
        }
    }

    /// Starts a command and collects all its output.
    pub(crate) fn run(&mut self, run: u32, start: Start) -> Outcome {
        self.start(run, start);
        self.credit(run, u32::MAX);
        self.started(run);
        self.finish(run)
    }

    /// Collects the frames of a run until it is closed; frames of other runs are unexpected.
    pub(crate) fn finish(&mut self, run: u32) -> Outcome {
        let (mut stdout, mut stderr, mut exited) = (Vec::new(), Vec::new(), None);
        loop {
            let (id, event) = self.next();
            assert_eq!(id, run, "{event:?}");
            match event {
                Event::Stdout(bytes) => stdout.extend(bytes),
                Event::Stderr(bytes) => stderr.extend(bytes),
                Event::StdinCredit(_) => {}
                Event::Exited(end) => exited = Some(end),
                Event::Closed(closed) => {
                    let exited = exited.expect("exited before closed");
                    return Outcome { stdout, stderr, exited, closed };
                }
                other => panic!("not expected: {other:?}"),
            }
        }
    }

    /// Reads output until it holds `text`.
    pub(crate) fn wait_for(&mut self, run: u32, text: &str) -> String {
        let mut all = Vec::new();
        loop {
            match self.next() {
                (id, Event::Stdout(bytes)) if id == run => all.extend(bytes),
                (_, Event::StdinCredit(_)) => {}
                other => panic!("not expected: {other:?}"),
            }
            let seen = String::from_utf8_lossy(&all).into_owned();
            if seen.contains(text) {
                return seen;
            }
        }
    }

    /// Closes the stream, as a host that goes away.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                return status;
            }
            assert!(Instant::now() < deadline, "the cell does not end");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn fatal(&mut self) -> String {
        loop {
            if let (0, Event::Fatal(message)) = self.next() {
                return message;
            }
        }
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

pub(crate) fn read_frame(stream: &mut impl Read) -> Option<(u32, Event)> {
    let mut head = [0; HEADER_LEN];
    stream.read_exact(&mut head).ok()?;
    let header = Header::parse(head).expect("a header");
    let mut payload = vec![0; header.len as usize];
    stream.read_exact(&mut payload).ok()?;
    let event = match FromCell::decode(&header, &payload).expect("a frame") {
        FromCell::Ready(facts) => Event::Ready(*facts),
        FromCell::Started { pid } => Event::Started(pid),
        FromCell::Failed(failed) => Event::Failed(failed),
        FromCell::Stdout(bytes) => Event::Stdout(bytes.to_vec()),
        FromCell::Stderr(bytes) => Event::Stderr(bytes.to_vec()),
        FromCell::StdinCredit(bytes) => Event::StdinCredit(bytes),
        FromCell::Exited(exited) => Event::Exited(exited),
        FromCell::Closed(closed) => Event::Closed(closed),
        FromCell::Pong(nonce) => Event::Pong(nonce),
        FromCell::Fatal(fatal) => Event::Fatal(fatal.to_string()),
    };
    Some((header.run, event))
}

/// A plain command.
pub(crate) fn command(argv: &[&str]) -> Start {
    Start {
        argv: argv.iter().map(|word| word.as_bytes().to_vec()).collect(),
        env: vec![b"PATH=/usr/bin:/bin".to_vec()],
        cwd: b"/".to_vec(),
        stdio: Stdio::Pipes { stdin: false },
        limits: Limits { wall_ms: None, idle_ms: None, output_bytes: None, grace_ms: 200, drain_ms: 200 },
        lifetime: Lifetime::Cell,
        umask: 0o022,
        rlimits: Vec::new(),
    }
}

pub(crate) fn shell(script: &str) -> Start {
    command(&["sh", "-c", script])
}

pub(crate) fn in_session(mut start: Start) -> Start {
    start.lifetime = Lifetime::Session;
    start
}

pub(crate) fn on_tty(mut start: Start, rows: u16, cols: u16) -> Start {
    start.stdio = Stdio::Tty(WindowSize { rows, cols });
    start
}

pub(crate) fn with_stdin(mut start: Start) -> Start {
    start.stdio = Stdio::Pipes { stdin: true };
    start
}

/// Whether a process has this mark in its command line. The mark must be unique.
pub(crate) fn is_running(mark: &str) -> bool {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").expect("proc").flatten();
    processes.filter(|entry| entry.file_name().to_string_lossy() != own).any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.contains(&mark.as_bytes())
    })
}

pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A number of seconds that no other process sleeps for.
pub(crate) fn unique_seconds() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("9{:07}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Runs every test of the body once in a PID namespace and once as a subreaper.
#[macro_export]
macro_rules! in_both_walls {
    ($($(#[$meta:meta])* fn $name:ident($walls:ident) $body:block)+) => {
        mod subreaper {
            #[allow(unused_imports, reason = "not every body needs all")]
            use super::*;
            $($(#[$meta])* #[test] fn $name() { let $walls = client::Walls::Subreaper; $body })+
        }
        mod namespace {
            #[allow(unused_imports, reason = "not every body needs all")]
            use super::*;
            $($(#[$meta])* #[test] fn $name() {
                if client::has_namespaces() { let $walls = client::Walls::Namespace; $body }
            })+
        }
    };
}
