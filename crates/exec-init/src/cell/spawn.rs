//! Creates a command's process and the cell's ends of its streams.

use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use exec_wire::{Failed, Lifetime, Stage, Start, Stdio};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::Rlimit;

use super::launch::{ChildStdio, Launch};
use super::report::{Report, Reporter};
use super::runner::{self, Runner};
use super::stream::{Channel, Stream};
use super::tty;
use crate::fence::Fence;
use crate::sys::{self, Fork, Pid};

/// Bytes a command can write ahead of the host. Large, so that few wake-ups move much; if refused, the
/// kernel's default will do.
const PIPE_SIZE: usize = 1024 * 1024;

/// Output pipes of one command.
const OUTPUTS: usize = 2;

/// A process that is about to become the command.
pub(crate) struct Spawned {
    pub(crate) process: Process,
    pub(crate) report: Report,
    pub(crate) ends: Ends,
}

/// The child of this program that represents the run.
pub(crate) enum Process {
    /// The command itself.
    Command(Pid),
    /// A process between us and the command that collects the run's orphans.
    Runner(Runner),
}

/// The cell's ends of a command's streams.
pub(crate) struct Ends {
    pub(crate) stdin: Option<Rc<OwnedFd>>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) tty: Option<Rc<OwnedFd>>,
}

/// Output pipes made ahead of the next command, because the host waits while they are made.
#[derive(Debug, Default)]
pub(crate) struct Stock(Vec<(OwnedFd, OwnedFd)>);

impl Stock {
    /// Fills up to one command's pipes. A pipe that can't be made now is made with the command.
    pub(crate) fn fill(&mut self) {
        while self.0.len() < OUTPUTS {
            let Ok(pipe) = output_pipe() else { return };
            self.0.push(pipe);
        }
    }

    fn take(&mut self) -> Result<(OwnedFd, OwnedFd), Errno> {
        self.0.pop().map_or_else(output_pipe, Ok)
    }
}

/// Cleans up after itself on failure.
pub(crate) fn spawn(
    start: Start,
    fence: &Fence,
    open_files: Rlimit,
    stock: &mut Stock,
) -> Result<Spawned, Failed> {
    let lifetime = start.lifetime;
    let (ends, theirs) = stdio(start.stdio, stock).map_err(failed(Stage::Stdio))?;
    let launch = Launch::new(start, open_files).map_err(failed(Stage::Exec))?;
    let (report, reporter) = pipe().map_err(failed(Stage::Stdio))?;
    nonblocking(&report).map_err(failed(Stage::Stdio))?;
    let reporter = Reporter::new(reporter);
    let process = match lifetime {
        // A directory or program on a hanging file system blocks this process too. The cell has nothing else
        // to do, and its keeper does not depend on it.
        Lifetime::Cell => {
            let run = || launch.run(&theirs, fence, &reporter);
            sys::fork_sharing(&run).map(Process::Command).map_err(failed(Stage::Fork))?
        }
        Lifetime::Session => {
            let (ours, runners) = runner::channel().map_err(failed(Stage::Stdio))?;
            match sys::fork().map_err(failed(Stage::Fork))? {
                Fork::Child => runner::run(&launch, theirs, fence, reporter, runners),
                Fork::Parent(pid) => Process::Runner(Runner::new(pid, ours)),
            }
        }
    };
    let pid = match &process {
        Process::Command(pid) => Some(*pid),
        Process::Runner(_) => None,
    };
    Ok(Spawned { process, report: Report::new(report, pid), ends })
}

fn failed(stage: Stage) -> impl Fn(Errno) -> Failed {
    move |errno| Failed { stage, errno: errno.raw_os_error() }
}

fn stdio(wanted: Stdio, stock: &mut Stock) -> Result<(Ends, ChildStdio), Errno> {
    match wanted {
        Stdio::Pipes { stdin } => pipes(stdin, stock),
        Stdio::Tty(size) => {
            let (master, slave) = tty::open(size)?;
            nonblocking(&master)?;
            let master = Rc::new(master);
            let ends = Ends {
                stdin: Some(Rc::clone(&master)),
                streams: vec![Stream::new(Channel::Stdout, Rc::clone(&master))],
                tty: Some(master),
            };
            Ok((ends, ChildStdio::Tty(slave)))
        }
    }
}

fn pipes(with_stdin: bool, stock: &mut Stock) -> Result<(Ends, ChildStdio), Errno> {
    let (our_stdin, stdin) = if with_stdin {
        let (theirs, ours) = pipe()?;
        nonblocking(&ours)?;
        (Some(Rc::new(ours)), theirs)
    } else {
        (None, rustix::fs::open(c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
    };
    let (our_stdout, stdout) = stock.take()?;
    let (our_stderr, stderr) = stock.take()?;
    let streams = vec![
        Stream::new(Channel::Stdout, Rc::new(our_stdout)),
        Stream::new(Channel::Stderr, Rc::new(our_stderr)),
    ];
    Ok((Ends { stdin: our_stdin, streams, tty: None }, ChildStdio::Pipes { stdin, stdout, stderr }))
}

fn output_pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (ours, theirs) = pipe()?;
    nonblocking(&ours)?;
    let _ = rustix::pipe::fcntl_setpipe_size(&ours, PIPE_SIZE);
    Ok((ours, theirs))
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
}

/// Affects only our end: the two ends of a pipe do not share this flag.
pub(crate) fn nonblocking(fd: impl AsFd) -> Result<(), Errno> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    rustix::fs::fcntl_setfl(&fd, flags | OFlags::NONBLOCK)
}
