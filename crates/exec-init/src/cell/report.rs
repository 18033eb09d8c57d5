//! What a new process reports to its supervisor before it becomes the command.
//!
//! One close-on-exec pipe: the process first writes its id if the supervisor does not know it, then the
//! failure if there is one. A pipe that ends without a failure means that the command runs.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use exec_wire::{Failed, Stage};
use rustix::io::Errno;

use crate::sys::Pid;

const PID_LEN: usize = 4;
const FAILURE_LEN: usize = 5;

/// The new process's end.
pub(crate) struct Reporter(OwnedFd);

impl Reporter {
    pub(crate) fn new(write_end: OwnedFd) -> Self {
        Self(write_end)
    }

    pub(crate) fn pid(&self, pid: Pid) {
        self.write(&pid.to_le_bytes());
    }

    pub(crate) fn failure(&self, stage: Stage, errno: Errno) {
        let [e0, e1, e2, e3] = errno.raw_os_error().to_le_bytes();
        self.write(&[stage_byte(stage), e0, e1, e2, e3]);
    }

    /// A few bytes into an empty pipe are never split. Without a reader the report is moot.
    fn write(&self, bytes: &[u8]) {
        let _ = rustix::io::retry_on_intr(|| rustix::io::write(&self.0, bytes));
    }
}

/// The state of a start, as far as the supervisor knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Pending,
    Running(Pid),
    Failed(Failed),
}

/// The supervisor's end.
pub(crate) struct Report {
    fd: OwnedFd,
    /// A child's id is known from its fork; a grandchild reports its own.
    pid: Option<Pid>,
    bytes: Vec<u8>,
}

impl Report {
    pub(crate) fn new(read_end: OwnedFd, pid: Option<Pid>) -> Self {
        Self { fd: read_end, pid, bytes: Vec::with_capacity(PID_LEN + FAILURE_LEN) }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn read(&mut self) -> Outcome {
        let mut piece = [0; 16];
        loop {
            match rustix::io::read(&self.fd, &mut piece) {
                Ok(0) => return outcome(self.pid, &self.bytes),
                Ok(count) => self.bytes.extend(piece.iter().take(count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Outcome::Pending,
                Err(errno) => {
                    return Outcome::Failed(Failed { stage: Stage::Fork, errno: errno.raw_os_error() });
                }
            }
        }
    }
}

fn outcome(known: Option<Pid>, bytes: &[u8]) -> Outcome {
    let failed = |stage, errno| Outcome::Failed(Failed { stage, errno });
    let said = |bytes: &'_ [u8]| bytes.first_chunk::<PID_LEN>().map(|pid| Pid::from_le_bytes(*pid));
    let Some(pid) = known.or_else(|| said(bytes)) else {
        // Killed before it could report anything.
        return failed(Stage::Fork, Errno::CHILD.raw_os_error());
    };
    let rest = if known.is_some() { bytes } else { bytes.get(PID_LEN..).unwrap_or_default() };
    match *rest {
        [] => Outcome::Running(pid),
        [stage, e0, e1, e2, e3] => failed(stage_of(stage), i32::from_le_bytes([e0, e1, e2, e3])),
        _ => failed(Stage::Exec, Errno::IO.raw_os_error()),
    }
}

fn stage_byte(stage: Stage) -> u8 {
    match stage {
        Stage::Stdio => 0,
        Stage::Fork => 1,
        Stage::Cwd => 2,
        Stage::Confine => 3,
        Stage::Exec => 4,
        Stage::Refused => 5,
    }
}

fn stage_of(byte: u8) -> Stage {
    match byte {
        0 => Stage::Stdio,
        1 => Stage::Fork,
        2 => Stage::Cwd,
        3 => Stage::Confine,
        5 => Stage::Refused,
        _ => Stage::Exec,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(pid: Option<Pid>) -> (Report, Reporter) {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
        (Report::new(read, pid), Reporter::new(write))
    }

    #[test]
    fn the_end_after_a_pid_means_running() {
        let (mut report, reporter) = ends(None);
        assert_eq!(report.read(), Outcome::Pending);
        reporter.pid(42);
        assert_eq!(report.read(), Outcome::Pending);
        drop(reporter);
        assert_eq!(report.read(), Outcome::Running(42));
    }

    #[test]
    fn a_child_may_report_nothing() {
        let (mut report, reporter) = ends(Some(43));
        assert_eq!(report.read(), Outcome::Pending);
        drop(reporter);
        assert_eq!(report.read(), Outcome::Running(43));
    }

    #[test]
    fn every_stage_arrives_as_sent() {
        for stage in [Stage::Stdio, Stage::Fork, Stage::Cwd, Stage::Confine, Stage::Exec, Stage::Refused] {
            for known in [None, Some(7)] {
                let (mut report, reporter) = ends(known);
                if known.is_none() {
                    reporter.pid(7);
                }
                reporter.failure(stage, Errno::ACCESS);
                drop(reporter);
                let errno = Errno::ACCESS.raw_os_error();
                assert_eq!(report.read(), Outcome::Failed(Failed { stage, errno }));
            }
        }
    }

    #[test]
    fn silence_is_a_failed_fork() {
        let (mut report, reporter) = ends(None);
        drop(reporter);
        assert!(matches!(report.read(), Outcome::Failed(Failed { stage: Stage::Fork, .. })));
    }
}
