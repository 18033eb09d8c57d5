//! The process outside: creates PID 1, opens the gate for it, waits for its end, and cleans up.
//!
//! It ends when PID 1 does. The host ends both by closing the stream; a killed keeper takes PID 1 with it.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use exec_wire::{JailSpec, NetworkWall, Walls};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, pidfd_send_signal, waitpid,
};

use super::fail::Fail;
use super::lifeline::{self, Key};
use super::scratch::Scratch;
use super::spawn::{Child, Side, fork_into};
use super::{ids, inside, wire};
use crate::cell::sweep;
use crate::cgroup::{Cgroup, Killing};
use crate::helper::{Host, Output};
use crate::{records, sys};

/// How long PID 1 may take to end everything after the host is gone.
const GRACE: Duration = Duration::from_secs(1);

/// How long killed processes may take to die; only those that the kernel can't interrupt take longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often to poll for the end of a child without a handle.
const TICK: Duration = Duration::from_millis(20);

/// Makes the cell and keeps it to its end. In the child of the fork this becomes the cell's PID 1 and never
/// returns.
pub(super) fn keep(spec: JailSpec) -> Result<i32, Fail> {
    let host = Host::of_this_process();
    let (namespaces, killing) = match &spec.walls {
        Walls::Namespaces(walls) => (namespaces(walls.network), Killing::ByNamespace),
        Walls::Subreaper { .. } => {
            lifeline::adopt_orphans()?;
            (0, Killing::ByGroup)
        }
    };
    let scratch = Scratch::make(&spec)?;
    let (gate, key) = lifeline::gate()?;
    let mut notes = Vec::new();
    let cgroup = Cgroup::make(&spec.cgroup, killing, &mut notes);
    let forked = fork_into(namespaces, cgroup.as_ref().and_then(Cgroup::birthplace));
    let kept = match forked {
        Ok((Side::Child, born_inside)) => {
            drop(key);
            inside::live(spec, inside::Inheritance { cgroup, born_inside, notes, gate })
        }
        Ok((Side::Parent(child), _)) => {
            drop(gate);
            release(&spec, &child, &key).map(|()| blame(watch(&child), cgroup.as_ref()))
        }
        Err(why) if namespaces == 0 => Err(Fail::new("fork", "PID 1", why)),
        Err(why) => Err(Fail::wall("clone", "user, PID, mount, IPC, UTS and network namespaces", why)),
    };
    if killing == Killing::ByGroup {
        if let Some(cgroup) = &cgroup {
            cgroup.kill_all();
        }
        end_descendants();
    }
    let left: Vec<String> = cgroup.iter().flat_map(Cgroup::remove).collect();
    for name in &left {
        wire::diagnose(&format!("control group {name} could not be removed"));
    }
    drop(scratch);
    // PID 1 exits with 0 only if the host has closed one direction of the stream; the other may take a
    // moment.
    let is_given_up = matches!(kept, Ok(0)) || has_hung_up(rustix::stdio::stdin()) || host.is_gone();
    if left.is_empty() && is_given_up {
        // The cell is gone, and the host is dead or has given it up. A living host also removes the records
        // when it sees our end; but a host that is about to exit closes the stream, may not check again, and
        // can outlive us by a moment.
        records::remove(&spec.records, Some(spec.log_note.as_slice()).filter(|note| !note.is_empty()));
    }
    kept
}

/// A PID 1 that was killed in a cell without memory left was killed for that: a full `/tmp` leaves the kernel
/// nothing else to reclaim.
fn blame(code: i32, cgroup: Option<&Cgroup>) -> i32 {
    let was_killed = code == 128 + Signal::KILL.as_raw();
    let out_of_memory = cgroup.is_some_and(|cgroup| cgroup.counters().oom_kills > 0);
    if was_killed && out_of_memory { exec_wire::EXIT_OUT_OF_MEMORY } else { code }
}

/// Kills the processes inherited from PID 1, which may have been killed by its own command.
fn end_descendants() {
    let own = rustix::process::getpid().as_raw_pid();
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        loop {
            match sys::wait_any() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        sweep::pass(own, &[]);
        sys::pause(Duration::from_millis(1));
    }
    wire::diagnose(&format!("still alive: {:?}", sweep::survivors(own, &[])));
}

fn namespaces(network: NetworkWall) -> u64 {
    let always = libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    let flags = match network {
        NetworkWall::Isolated => always | libc::CLONE_NEWNET,
        NetworkWall::Host => always,
    };
    flags as u64
}

/// Does the parent's part of PID 1's setup and lets it continue.
fn release(spec: &JailSpec, child: &Child, key: &Key) -> Result<(), Fail> {
    let mapped = match &spec.walls {
        Walls::Namespaces(walls) => ids::map(child.pid, walls.ids),
        Walls::Subreaper { .. } => Ok(()),
    };
    match mapped.and_then(|()| key.open()) {
        Ok(()) => {
            // From here on only PID 1 holds the stream to the host: its end must be the stream's end.
            Output::Stdout.mute();
            Ok(())
        }
        Err(fail) => {
            kill(child);
            let _ = waitpid(Some(child.pid), WaitOptions::empty());
            Err(fail)
        }
    }
}

/// Waits for the end of PID 1, and kills it if it outlives the host for too long.
fn watch(child: &Child) -> i32 {
    let opened = match child.handle {
        Some(_) => None,
        None => pidfd_open(child.pid, PidfdFlags::empty()).ok(),
    };
    let handle = child.handle.as_ref().or(opened.as_ref()).map(AsFd::as_fd);
    let mut host_gone = false;
    while !host_gone {
        if let Some(code) = ended(child, WaitOptions::NOHANG) {
            return code;
        }
        host_gone = wait(handle, Some(rustix::stdio::stdin()), None);
    }
    let deadline = Instant::now() + GRACE;
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        if let Some(code) = ended(child, WaitOptions::NOHANG) {
            return code;
        }
        wait(handle, None, Some(left));
    }
    kill(child);
    loop {
        if let Some(code) = ended(child, WaitOptions::empty()) {
            return code;
        }
    }
}

/// Sleeps until the next event; returns whether the host's end of the stream is closed.
fn wait(child: Option<BorrowedFd<'_>>, host: Option<BorrowedFd<'_>>, most: Option<Duration>) -> bool {
    let mut fds: Vec<_> = child.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).into_iter().collect();
    // With no events requested, poll still reports a hang-up; the bytes on the stream belong to PID 1.
    fds.extend(host.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::empty())));
    let most = if child.is_none() { Some(most.unwrap_or(TICK).min(TICK)) } else { most };
    let most = most.and_then(|time| Timespec::try_from(time).ok());
    if poll(&mut fds, most.as_ref()).is_err() {
        return false;
    }
    host.is_some() && fds.last().is_some_and(|host| host.revents().intersects(GONE))
}

/// The poll events of a stream whose other end is closed.
const GONE: PollFlags = PollFlags::HUP.union(PollFlags::ERR).union(PollFlags::NVAL);

/// Whether the other end of a stream is closed.
fn has_hung_up(stream: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(stream, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok() && fds.iter().all(|fd| fd.revents().intersects(GONE))
}

/// The exit code to pass on, if the child has ended.
fn ended(child: &Child, options: WaitOptions) -> Option<i32> {
    match waitpid(Some(child.pid), options) {
        Ok(None) | Err(Errno::INTR) => None,
        Ok(Some((_, status))) => {
            Some(status.exit_status().unwrap_or(128 + status.terminating_signal().unwrap_or(0)))
        }
        Err(_) => Some(1),
    }
}

fn kill(child: &Child) {
    let _ = match &child.handle {
        Some(handle) => pidfd_send_signal(handle, Signal::KILL),
        // The child is not reaped yet, so its pid is still its own.
        None => kill_process(child.pid, Signal::KILL),
    };
}
