//! Drives one local cell over its two pipes, as the host does.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio as Pipe};
use std::sync::OnceLock;

use exec_wire::{
    Closed, Facts, Fatal, FromCell, HEADER_LEN, Header, JailSpec, Lifetime, Limits, PROTOCOL_VERSION, Start,
    Status, Stdio, ToCell,
};

use crate::spec::Role;

/// A running keeper and the streams to the PID 1 behind it.
pub(crate) struct Cell {
    pub(crate) keeper: Child,
    to: Option<ChildStdin>,
    from: ChildStdout,
    pub(crate) facts: Facts,
}

/// The result of a command in a cell.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    pub(crate) output: String,
    pub(crate) closed: Closed,
}

impl Outcome {
    pub(crate) fn ok(&self) -> bool {
        self.status == Status::Code(0)
    }
}

/// The program under test, at a path where every user can run it.
pub(crate) fn program() -> &'static PathBuf {
    static PLACE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PLACE.get_or_init(|| {
        let dir = tempfile::Builder::new().permissions(PermissionsExt::from_mode(0o755)).tempdir().unwrap();
        let path = dir.path().join("exec-init");
        std::fs::copy(env!("CARGO_BIN_EXE_exec-init"), &path).unwrap();
        (dir, path)
    });
    path
}

impl Cell {
    /// Starts a keeper as `role` and waits until the cell is ready, or fails with the reason.
    pub(crate) fn start(role: Role, spec: JailSpec) -> Result<Self, Fatal> {
        let mut command = Command::new(program());
        command.arg("local");
        Self::start_by(command, role, spec)
    }

    /// The same, with a command that becomes the keeper.
    pub(crate) fn start_by(mut command: Command, role: Role, spec: JailSpec) -> Result<Self, Fatal> {
        command.env_clear().current_dir("/").stdin(Pipe::piped()).stdout(Pipe::piped());
        if let Some(id) = role.outside() {
            command.uid(id).gid(id);
        }
        let mut keeper = command.spawn().unwrap();
        let (mut to, mut from) = (keeper.stdin.take().unwrap(), keeper.stdout.take().unwrap());
        let mut bytes = Vec::new();
        ToCell::Jail(Box::new(spec)).encode(0, &mut bytes);
        ToCell::Hello { version: PROTOCOL_VERSION }.encode(0, &mut bytes);
        // A keeper that refuses early may not read all of it: its answer has the reason.
        let _ = to.write_all(&bytes);
        let (header, payload) = next(&mut from).expect("an answer before the end of the stream");
        match FromCell::decode(&header, &payload).unwrap() {
            FromCell::Ready(facts) => Ok(Self { keeper, to: Some(to), from, facts: *facts }),
            FromCell::Fatal(why) => {
                assert_eq!(keeper.wait().unwrap().code(), Some(1), "{why}");
                Err(why)
            }
            other => panic!("{other:?}"),
        }
    }

    /// Runs a shell script to its end; the cell serves no other command afterwards.
    pub(crate) fn sh(mut self, script: &str) -> Outcome {
        // One stream, so that the output stays in order.
        self.begin(&["/bin/sh", "-c", &format!("exec 2>&1; {script}")]);
        self.finish()
    }

    /// Starts a command.
    pub(crate) fn begin(&mut self, argv: &[&str]) {
        let start = Start {
            argv: argv.iter().map(|arg| arg.as_bytes().to_vec()).collect(),
            env: vec![b"PATH=/usr/bin:/bin:/usr/sbin:/sbin".to_vec(), b"LC_ALL=C".to_vec()],
            cwd: b"/".to_vec(),
            stdio: Stdio::Pipes { stdin: false },
            limits: Limits {
                wall_ms: Some(60_000),
                idle_ms: None,
                output_bytes: None,
                grace_ms: 0,
                drain_ms: 100,
            },
            lifetime: Lifetime::Cell,
            umask: 0o22,
            rlimits: Vec::new(),
        };
        let mut bytes = Vec::new();
        ToCell::Start(Box::new(start)).encode(1, &mut bytes);
        ToCell::Credit(1 << 20).encode(1, &mut bytes);
        self.to.as_mut().unwrap().write_all(&bytes).unwrap();
    }

    /// Waits for a word in the command's output.
    pub(crate) fn wait_for(&mut self, word: &str) -> String {
        let mut output = String::new();
        while !output.contains(word) {
            let (header, payload) = next(&mut self.from).unwrap_or_else(|| panic!("ended early: {output}"));
            match FromCell::decode(&header, &payload).unwrap() {
                FromCell::Stdout(bytes) | FromCell::Stderr(bytes) => {
                    output.push_str(&String::from_utf8_lossy(bytes));
                }
                FromCell::Started { .. } => {}
                other => panic!("{other:?} after {output}"),
            }
        }
        output
    }

    fn finish(&mut self) -> Outcome {
        let (mut output, mut status) = (String::new(), None);
        loop {
            let (header, payload) = next(&mut self.from).unwrap_or_else(|| panic!("ended early: {output}"));
            match FromCell::decode(&header, &payload).unwrap() {
                FromCell::Stdout(bytes) | FromCell::Stderr(bytes) => {
                    output.push_str(&String::from_utf8_lossy(bytes));
                }
                FromCell::Exited(exited) => status = Some(exited.status),
                FromCell::Closed(closed) => {
                    return Outcome { status: status.expect("Exited first"), output, closed };
                }
                FromCell::Failed(failed) => panic!("{failed:?}"),
                FromCell::Fatal(why) => panic!("{why}"),
                _ => {}
            }
        }
    }

    /// Hangs up, like a host that is gone, and waits for the keeper.
    pub(crate) fn hang_up(mut self) -> Option<i32> {
        self.to = None;
        self.keeper.wait().unwrap().code()
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.keeper.wait();
    }
}

fn next(from: &mut ChildStdout) -> Option<(Header, Vec<u8>)> {
    let mut head = [0; HEADER_LEN];
    from.read_exact(&mut head).ok()?;
    let header = Header::parse(head).unwrap();
    let mut payload = vec![0; header.len as usize];
    from.read_exact(&mut payload).ok()?;
    Some((header, payload))
}
