//! A reaper process to send orders to, and to inspect.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use exec_wire::reaper::{Address, Directory, Name, Order, SocketPath};
use rustix::process::{Pid, Signal, kill_process};

use crate::client::until;

pub(crate) struct Reaper {
    child: Child,
    input: Option<ChildStdin>,
}

impl Reaper {
    /// A reaper without any orders.
    pub(crate) fn silent() -> Self {
        let mut child = program().stdin(Stdio::piped()).spawn().expect("spawn");
        let input = child.stdin.take();
        Self { child, input }
    }

    /// A reaper that knows the engine's address.
    pub(crate) fn of(socket: &Path) -> Self {
        let mut reaper = Self::silent();
        reaper.say(&engine(socket));
        reaper
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.input.as_mut().expect("open").write_all(bytes).expect("the reaper reads");
    }

    pub(crate) fn watch(&mut self, name: &str) {
        self.say(&watch(name));
    }

    pub(crate) fn fifo_channels(&mut self, directory: &Path) {
        let directory = Directory::new(directory.as_os_str().as_bytes()).expect("a short path");
        self.say(&line(&Order::FifoChannels(directory)));
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.say(&line(&Order::Forget(Name::new(name).expect("a name"))));
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a pid");
        kill_process(pid, signal).expect("signal");
    }

    /// A file of its `/proc` directory.
    pub(crate) fn proc(&self, what: &str) -> PathBuf {
        format!("/proc/{}/{what}", self.child.id()).into()
    }

    /// Closes the stream, as a host that goes away.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }
}

pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let mut status = None;
    until("the reaper ends", || {
        status = child.try_wait().expect("wait");
        status.is_some()
    });
    status.expect("it ended")
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_exec-init"));
    command.arg("reaper").env_clear();
    command
}

pub(crate) fn engine(socket: &Path) -> Vec<u8> {
    let path = SocketPath::new(socket.as_os_str().as_bytes()).expect("a short path");
    line(&Order::Engine(Address::Unix(path)))
}

pub(crate) fn watch(name: &str) -> Vec<u8> {
    line(&Order::Watch(Name::new(name).expect("a name")))
}

fn line(order: &Order) -> Vec<u8> {
    let mut bytes = Vec::new();
    order.encode(&mut bytes);
    bytes
}
