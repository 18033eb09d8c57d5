//! Commands that start processes, leave them behind, and signal others.
//!
//! A command that leaves a process behind returns only when that process exists, so a case that finds none
//! afterwards knows that it was killed. The marker is in every process's arguments.

use std::time::{Duration, Instant};

use crate::command::Args;
use crate::sys::{self, Fork, Result, STDERR, STDIN, STDOUT};

/// `daemon MARKER`: leaves behind a process in its own session, without our parent and without pipes.
pub(crate) fn daemon(_: &Args<'_>) -> Result<()> {
    leave_behind(|| {
        sys::setsid()?;
        if let Fork::Parent { .. } = sys::fork()? {
            sys::exit(0);
        }
        for fd in [STDIN, STDOUT, STDERR] {
            sys::close(fd);
        }
        Ok(())
    })
}

/// `hold-pipe MARKER`: leaves behind a child that keeps the output open.
pub(crate) fn hold_pipe(_: &Args<'_>) -> Result<()> {
    leave_behind(|| Ok(()))
}

/// `nohup MARKER`: leaves behind a child that ignores polite signals.
pub(crate) fn nohup(_: &Args<'_>) -> Result<()> {
    leave_behind(|| {
        crate::signals::ignore_polite();
        Ok(())
    })
}

/// `fork-bomb N MARKER`: starts N children, each in its own session; prints how many there are.
pub(crate) fn fork_bomb(args: &Args<'_>) -> Result<()> {
    let wanted: u32 = args.number(0);
    for made in 0..wanted {
        match sys::fork() {
            Ok(Fork::Parent { .. }) => {}
            Ok(Fork::Child) => {
                let _ = sys::setsid();
                sys::pause_for_ever();
            }
            Err(errno) => return sys::say(&format!("errno {} after {made}", errno.name())),
        }
    }
    sys::say(&format!("made {wanted}"))
}

/// `zombies N`: N orphans that end at once; prints how many are not reaped within ten seconds.
pub(crate) fn zombies(args: &Args<'_>) -> Result<()> {
    let mut orphans = Vec::new();
    for _ in 0..args.number::<u32>(0) {
        orphans.push(orphan()?);
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    while !orphans.is_empty() && Instant::now() < deadline {
        orphans.retain(|pid| sys::kill(*pid, 0).is_ok());
        std::thread::yield_now();
    }
    sys::say(&format!("left {}", orphans.len()))
}

/// `exit CODE`
pub(crate) fn exit(args: &Args<'_>) -> Result<()> {
    sys::exit(args.number(0))
}

/// `pause MARKER`: prints that it is running, and stays.
pub(crate) fn pause(_: &Args<'_>) -> Result<()> {
    sys::say("ready")?;
    sys::pause_for_ever()
}

/// `kill PID SIGNAL`
pub(crate) fn kill(args: &Args<'_>) -> Result<()> {
    sys::kill(args.number(0), args.number(1))?;
    sys::say("ok")
}

/// `kill-parent SIGNAL`: signals the command's supervisor. Prints `alive` if the parent still is.
pub(crate) fn kill_parent(args: &Args<'_>) -> Result<()> {
    let parent = sys::parent();
    match sys::kill(parent, args.number(0)) {
        Ok(()) => sys::say("sent")?,
        Err(errno) => sys::say(&format!("errno {}", errno.name()))?,
    }
    let still = sys::parent() == parent;
    sys::say(if still { "alive" } else { "gone" })
}

/// Runs `prepare` in a child and leaves that child behind, once it is prepared.
fn leave_behind(prepare: fn() -> Result<()>) -> Result<()> {
    let (ready, tell) = sys::pipe()?;
    if let Fork::Child = sys::fork()? {
        sys::close(ready);
        if prepare().is_err() || sys::write_all(tell, b"x").is_err() {
            sys::exit(1);
        }
        sys::close(tell);
        sys::pause_for_ever();
    }
    sys::close(tell);
    match sys::read(ready, &mut [0])? {
        1 => sys::say("left behind"),
        _ => sys::say("nothing left behind"),
    }
}

/// Makes an orphan that ends at once; returns its id.
fn orphan() -> Result<libc::pid_t> {
    let (ids, tell) = sys::pipe()?;
    match sys::fork()? {
        Fork::Child => {
            let code = match sys::fork() {
                Ok(Fork::Child) => 0,
                Ok(Fork::Parent { child }) => i32::from(sys::write_all(tell, &child.to_ne_bytes()).is_err()),
                Err(_) => 1,
            };
            sys::exit(code);
        }
        Fork::Parent { child } => {
            sys::close(tell);
            let mut id = [0; 4];
            let answer = sys::read(ids, &mut id);
            sys::close(ids);
            sys::wait(child)?;
            answer.map(|_| libc::pid_t::from_ne_bytes(id))
        }
    }
}
