//! Commands about signals.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use crate::command::Args;
use crate::sys::{self, Result};

/// The signals a case may send, and those that ask a program to end.
const NAMES: &[(c_int, &str)] = &[
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGWINCH, "SIGWINCH"),
];

const POLITE: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// `wait-signal`: prints `ready`, waits for a signal, prints its name, exits with 7.
pub(crate) fn wait(_: &Args<'_>) -> Result<()> {
    let numbers: Vec<c_int> = NAMES.iter().map(|(number, _)| *number).collect();
    block(&numbers);
    sys::say("ready")?;
    let got = wait_for(&numbers);
    let name = NAMES.iter().find(|(number, _)| *number == got).map_or("unknown", |(_, name)| name);
    sys::say(&format!("got {name}"))?;
    sys::exit(7)
}

/// `ignore-signals MARKER`: prints `ready` and ignores every polite request to end.
pub(crate) fn ignore(_: &Args<'_>) -> Result<()> {
    ignore_polite();
    sys::say("ready")?;
    sys::pause_for_ever()
}

/// `raise NUMBER`
pub(crate) fn raise(args: &Args<'_>) -> Result<()> {
    // SAFETY: a plain number.
    sys::check(unsafe { libc::raise(args.number(0)) })?;
    sys::say("still here")
}

/// Prints which signals were blocked or ignored when the program started.
pub(crate) fn masks(_: &Args<'_>) -> Result<()> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    for line in text.lines().filter(|line| line.starts_with("SigBlk") || line.starts_with("SigIgn")) {
        sys::say(line)?;
    }
    Ok(())
}

pub(crate) fn ignore_polite() {
    for number in POLITE {
        // SAFETY: ignoring a signal runs no code of ours.
        unsafe { libc::signal(number, libc::SIG_IGN) };
    }
}

pub(crate) fn block(numbers: &[c_int]) {
    let set = set_of(numbers);
    // SAFETY: the set is initialised; the old one is not requested.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

/// Waits for one of these signals, which must be blocked.
pub(crate) fn wait_for(numbers: &[c_int]) -> c_int {
    let (set, mut got) = (set_of(numbers), 0);
    // SAFETY: both point to values of this frame.
    unsafe { libc::sigwait(&raw const set, &raw mut got) };
    got
}

fn set_of(numbers: &[c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises what the rest then changes.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for number in numbers {
            libc::sigaddset(set.as_mut_ptr(), *number);
        }
        set.assume_init()
    }
}
