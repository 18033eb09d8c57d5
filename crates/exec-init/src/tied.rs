//! A program that ends with the host, however the host ends.
//!
//! The host holds the write end of our standard input, and may share it with processes that still need the
//! program for a while after the host is gone. When the last holder closes it, the program gets SIGTERM, and
//! after a grace period SIGKILL. If this process itself is killed, the kernel sends the program SIGTERM
//! instead.
//!
//! A program may re-execute itself in a child and only wait for it, as rootless Podman does to enter a user
//! namespace. The first time for a user it does not pass signals on. So a child with exactly the same command
//! line counts as the program too; its other children are left alone.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, set_parent_process_death_signal,
    waitpid,
};

use crate::cell::sweep;
use crate::helper;
use crate::sys::{self, Fork};

/// How long a program may take to end after SIGTERM.
const GRACE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// The shell's exit code for a program that can't be executed.
const NOT_EXECUTED: i32 = 126;

/// Runs the program until it ends or its last user is gone. Succeeds only in the latter case.
pub(crate) fn run(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    helper::cut_loose();
    // Process lists may show another name.
    let _ = rustix::thread::set_name(c"exec-tied");
    let arguments: Vec<OsString> = arguments.collect();
    let command_line = command_line(program, &arguments);
    match sys::fork() {
        Ok(Fork::Child) => become_program(program, &arguments),
        Ok(Fork::Parent(child)) => {
            Pid::from_raw(child).map_or(ExitCode::FAILURE, |child| attend(child, &command_line))
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// The command line, as the kernel shows it.
fn command_line(program: &OsStr, arguments: &[OsString]) -> Vec<u8> {
    let words = std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str));
    words.flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect()
}

fn become_program(program: &OsStr, arguments: &[OsString]) -> ! {
    // Too late if our parent is dead by now; but then its end of the pipe is closed, and the program is not
    // needed for long.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    sys::unblock_signals();
    // Returns only on failure.
    let _ = Command::new(program).args(arguments).stdin(Stdio::null()).exec();
    sys::exit_now(NOT_EXECUTED)
}

fn attend(child: Pid, command_line: &[u8]) -> ExitCode {
    let Ok(handle) = pidfd_open(child, PidfdFlags::empty()) else { return ExitCode::FAILURE };
    match until_abandoned(&handle) {
        Wanted::NoMore => {
            executed_anew(child, command_line).iter().for_each(end);
            end(&handle);
            let _ = waitpid(Some(child), WaitOptions::empty());
            ExitCode::SUCCESS
        }
        Wanted::Still => ExitCode::FAILURE,
    }
}

/// Children of the program that are re-executions of it.
fn executed_anew(program: Pid, command_line: &[u8]) -> Vec<OwnedFd> {
    let has_same = |pid: sys::Pid| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|found| found == command_line)
    };
    let handle = |pid: sys::Pid| {
        let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        // Checked after opening the handle, so the pid can't be reused in between.
        has_same(pid).then_some(handle)
    };
    sweep::children(program.as_raw_pid()).into_iter().filter_map(handle).collect()
}

/// Whether the program was still wanted when the wait ended.
enum Wanted {
    Still,
    NoMore,
}

fn until_abandoned(program: &OwnedFd) -> Wanted {
    let stdin = rustix::stdio::stdin();
    loop {
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(program, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return Wanted::NoMore,
            Ok(_) => {}
        }
        let [input, ended] = fds.map(|fd| !fd.revents().is_empty());
        if ended {
            return Wanted::Still;
        }
        // Only the end of the stream matters; any bytes are ignored.
        if input
            && !matches!(rustix::io::read(stdin, &mut [0; 64]), Ok(1..) | Err(Errno::INTR | Errno::AGAIN))
        {
            return Wanted::NoMore;
        }
    }
}

fn end(program: &OwnedFd) {
    let _ = pidfd_send_signal(program, Signal::TERM);
    let mut fds = [PollFd::new(program, PollFlags::IN)];
    // No signal interrupts this: all are blocked.
    if !matches!(poll(&mut fds, Some(&GRACE)), Ok(1..)) {
        let _ = pidfd_send_signal(program, Signal::KILL);
    }
}
