//! The exit statuses of agentctl. Every number is here and in the table that `run --help` shows.

use std::io;

use exec_core::{Ended, Error, ErrorKind, Outcome, Status};

/// The table in `--help`.
pub(crate) const TABLE: &str = "Exit status:
  the command's own, if it exited
  124    it reached --timeout or --idle-timeout
  125    the options are invalid, or the sandbox failed
  126    the program exists but can't be run
  127    the program is missing
  128+n  signal n ended it
  130    it was cancelled: SIGTERM or SIGHUP to agentctl, or a second SIGINT
  137    it used up its memory (--memory)
  141    the reader of our output closed the pipe, and the run was cancelled
  153    it wrote more than --max-output
The command may exit with any of these itself; --json says in `ended` which it was.";

/// The request was invalid, or the sandbox failed.
pub(crate) const SANDBOX_FAILED: u8 = 125;
/// `agentctl doctor`: the sandbox a run would get does not work.
pub(crate) const UNWELL: u8 = 1;
/// `agentctl bootstrap-docker --check`: the files are out of date.
pub(crate) const STALE: u8 = 1;
/// `agentctl stop`, `kill`, `rm` and `emergency-stop`: something may still be alive.
pub(crate) const SURVIVORS: u8 = 1;
/// Ended by the process that started agentctl, or by the user.
pub(crate) const CANCELLED: u8 = 130;

const TIMED_OUT: u8 = 124;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
const BY_SIGNAL: i32 = 128;
/// As a shell shows SIGKILL, which the kernel sends in that case.
const OUT_OF_MEMORY: u8 = 137;
/// As a shell shows SIGPIPE.
const OUTPUT_GONE: u8 = 141;
/// As a shell shows SIGXFSZ, the kernel's own signal for having written too much.
const OUTPUT_LIMIT: u8 = 153;

/// For a run that ended in any way.
pub(crate) fn of_outcome(outcome: &Outcome) -> u8 {
    match outcome.ended {
        Ended::TimedOut => TIMED_OUT,
        Ended::Cancelled => CANCELLED,
        Ended::OutOfMemory => OUT_OF_MEMORY,
        Ended::OutputLimit => OUTPUT_LIMIT,
        Ended::Exited | Ended::Signalled => of_status(outcome.status),
    }
}

fn of_status(status: Status) -> u8 {
    match status {
        Status::Code(code) => code as u8,
        Status::Signal(signal) => (BY_SIGNAL + signal.number()) as u8,
    }
}

/// For a sandbox that failed.
pub(crate) fn of_error(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::ProgramNotFound => NOT_FOUND,
        ErrorKind::ProgramNotExecutable => NOT_EXECUTABLE,
        _ => SANDBOX_FAILED,
    }
}

/// For output that could not be written.
pub(crate) fn of_output_error(error: &io::Error) -> u8 {
    match error.kind() {
        io::ErrorKind::BrokenPipe => OUTPUT_GONE,
        _ => SANDBOX_FAILED,
    }
}

#[cfg(test)]
mod tests {
    use exec_core::Signal;

    use super::*;

    #[test]
    fn the_commands_own_status_is_kept() {
        for code in [0, 3, 124, 125, 137, 255] {
            assert_eq!(i32::from(of_status(Status::Code(code))), code);
        }
        assert_eq!(of_status(Status::Signal(Signal::TERM)), 143);
    }

    #[test]
    fn every_number_is_in_the_table() {
        let numbers =
            [TIMED_OUT, SANDBOX_FAILED, NOT_EXECUTABLE, NOT_FOUND, CANCELLED, OUT_OF_MEMORY, OUTPUT_GONE];
        for number in numbers.into_iter().chain([OUTPUT_LIMIT]) {
            assert!(TABLE.contains(&format!("\n  {number} ")), "{number}");
        }
    }
}
