//! Starts the program, and inspects live processes.

pub(crate) mod fuse;
mod helpers;
pub(crate) mod hostile;
mod marker;
mod memory;
mod pty;
mod secrets;
mod seen;
pub(crate) mod tmux;
pub(crate) mod uproar;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) use helpers::helpers_of;
pub(crate) use marker::Marker;
pub(crate) use memory::assert_a_gibibyte_passes_in_bounded_memory;
pub(crate) use pty::Pty;
pub(crate) use secrets::assert_secrets_are_masked;
pub(crate) use seen::{ps, runs, said};

/// Nothing here takes this long; it only ends a hanging test.
pub(crate) const OUTER_LIMIT: Duration = Duration::from_secs(60);

/// The subject of these tests does not depend on the engines of this machine.
pub(crate) const LOCAL: (&str, &str) = ("AGENTCTL_SANDBOX", "local");

/// The program.
pub(crate) fn program() -> std::ffi::OsString {
    std::env::var_os("AGENTCTL_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_agentctl").into())
}

/// A workspace, and `agentctl` in it, for a user without any configuration.
#[derive(Debug)]
pub(crate) struct Place {
    dir: TempDir,
    user: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), user: tempfile::tempdir().unwrap() }
    }

    /// Where this user's configuration and memory are.
    pub(crate) fn user(&self) -> &std::path::Path {
        self.user.path()
    }

    /// Where the records of this user's runs are.
    pub(crate) fn state(&self) -> std::path::PathBuf {
        self.user().join("run")
    }

    /// The records in `cells` or `runs`.
    pub(crate) fn records(&self, kind: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.state().join(kind)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// A file in the workspace.
    pub(crate) fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// `agentctl` with these arguments and no input.
    pub(crate) fn agentctl<I>(&self, args: I) -> Command
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        let mut command = Command::new(program());
        self.at_home(command.args(args).stdin(Stdio::null()));
        command
    }

    /// A command of this user, in this directory.
    pub(crate) fn at_home<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for name in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env(name, self.user());
        }
        // Runs that are stopped, refused and cleaned up here belong to this test alone.
        command.current_dir(self.path()).env(LOCAL.0, LOCAL.1).env("AGENTCTL_STATE_DIR", self.state())
    }

    /// `agentctl run --quiet` with a line of shell and its output in a pipe.
    pub(crate) fn shell(&self, options: &[&str], script: &str) -> Run {
        let command = ["--", "sh", "-c", script];
        Run::spawn(&mut self.agentctl(["run", "--quiet"].iter().chain(options).chain(&command)))
    }

    /// Runs to the end.
    pub(crate) fn output<I>(&self, args: I) -> Output
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        self.agentctl(args).output().unwrap()
    }

    /// Runs with `--json` to the end.
    pub(crate) fn json(&self, options: &[&str], command: &[&str]) -> (Value, Option<i32>) {
        let args = ["run", "--json"].iter().chain(options).chain(&["--"]).chain(command);
        let output = self.output(args);
        let object = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)));
        (object, output.status.code())
    }
}

/// A running `agentctl`.
#[derive(Debug)]
pub(crate) struct Run {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Run {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    /// The next line of output, which must be this.
    pub(crate) fn expect_line(&mut self, expected: &str) {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert_eq!(line, format!("{expected}\n"));
    }

    pub(crate) fn stdout(&mut self) -> &mut impl Read {
        &mut self.stdout
    }

    /// Closes the reading end of its output.
    pub(crate) fn without_reader(self) -> Child {
        self.child
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }

    /// Waits for the end and returns the exit code.
    pub(crate) fn code(&mut self) -> Option<i32> {
        self.wait().code()
    }
}

/// Waits for a process, with a time limit.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let mut status = None;
    let ended = eventually(OUTER_LIMIT, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    if !ended {
        child.kill().unwrap();
    }
    status.expect("agentctl should have ended")
}

/// Polls until the condition holds or the time is up.
pub(crate) fn eventually(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
