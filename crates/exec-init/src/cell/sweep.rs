//! Kills every descendant of a process, found through `/proc`.
//!
//! Used where no PID namespace does it: below a subreaper every descendant stays a descendant, so a walk down
//! from the subreaper finds them all. A pass freezes the processes it finds until no new ones turn up -
//! frozen processes keep their places in the process limit and can't fork - and then kills from the top down.
//! The caller repeats passes until the kernel reports that no children are left.
//!
//! A process is signalled through a descriptor opened before its parentage was checked, so a recycled process
//! id is never hit.

use std::collections::BTreeSet;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::process::{Pid as ProcessId, PidfdFlags};

use crate::stat;
use crate::sys::{self, Pid};

/// Rounds of freezing before the kill.
const MOST_ROUNDS: usize = 64;

/// Generations followed in one walk, one descriptor each. Deeper processes surface when their ancestors are
/// gone.
const MOST_DEPTH: usize = 128;

/// Freezes, then kills, everything below `root` except the trees of `spare`.
pub(crate) fn pass(root: Pid, spare: &[Pid]) {
    let mut freeze = Walk { signal: libc::SIGSTOP, spare, seen: BTreeSet::new() };
    for _ in 0..MOST_ROUNDS {
        let before = freeze.seen.len();
        freeze.below(root);
        if freeze.seen.len() == before {
            break;
        }
    }
    Walk { signal: libc::SIGKILL, spare, seen: BTreeSet::new() }.below(root);
}

/// Every living process below `root`, except the trees of `spare`.
pub(crate) fn survivors(root: Pid, spare: &[Pid]) -> Vec<u32> {
    let mut found = BTreeSet::new();
    let mut pending = vec![root];
    while let Some(parent) = pending.pop() {
        for child in children(parent) {
            let alive = stat::read(child).is_some_and(|stat| stat.is_alive());
            if !spare.contains(&child) && alive && found.insert(child.unsigned_abs()) {
                pending.push(child);
            }
        }
    }
    found.into_iter().collect()
}

/// Every visible living process except `own`.
pub(crate) fn everyone(own: Pid) -> Vec<u32> {
    let alive = |pid: &Pid| *pid != own && stat::read(*pid).is_some_and(|stat| stat.is_alive());
    processes().into_iter().filter(alive).map(Pid::unsigned_abs).collect()
}

struct Walk<'a> {
    signal: i32,
    spare: &'a [Pid],
    /// Processes signalled already, in this or an earlier round.
    seen: BTreeSet<Pid>,
}

impl Walk<'_> {
    /// Signals everything below a process that can't be replaced during the walk: ourselves, or our child.
    fn below(&mut self, root: Pid) {
        self.visit(root, None, 0);
    }

    fn visit(&mut self, parent: Pid, parent_fd: Option<&OwnedFd>, depth: usize) {
        if depth > MOST_DEPTH {
            return;
        }
        for child in children(parent) {
            if self.spare.contains(&child) {
                continue;
            }
            let Some(fd) = open(child) else { continue };
            if stat::read(child).is_none_or(|stat| stat.parent != parent.unsigned_abs()) {
                continue;
            }
            // The parent's pid still means the parent, so the process just examined is its child.
            if parent_fd.is_some_and(|parent| sys::pidfd_send_signal(parent.as_raw_fd(), 0).is_err()) {
                return;
            }
            if self.seen.insert(child) {
                let _ = sys::pidfd_send_signal(fd.as_raw_fd(), self.signal);
            }
            self.visit(child, Some(&fd), depth + 1);
        }
    }
}

fn open(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(ProcessId::from_raw(pid)?, PidfdFlags::empty()).ok()
}

/// The children of every thread of a process. On kernels without such lists, every process is checked for its
/// parent.
pub(crate) fn children(parent: Pid) -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let mut found = Vec::new();
    let mut listed = false;
    for thread in threads.flatten() {
        if let Ok(list) = std::fs::read_to_string(thread.path().join("children")) {
            listed = true;
            found.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<Pid>().ok()));
        }
    }
    if listed { found } else { children_by_parent(parent) }
}

fn children_by_parent(parent: Pid) -> Vec<Pid> {
    let is_child = |pid: &Pid| stat::read(*pid).is_some_and(|stat| stat.parent == parent.unsigned_abs());
    processes().into_iter().filter(is_child).collect()
}

fn processes() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A subreaper that ends when its input does. It inherits the children of killed parents, for the next
    /// pass.
    #[expect(unsafe_code, reason = "a process becomes a subreaper by itself, and what it executes stays one")]
    fn subreaper(script: &str) -> std::process::Child {
        use std::os::unix::process::CommandExt;
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("{script}\nread end")]).stdin(std::process::Stdio::piped());
        let adopt = || Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?);
        // SAFETY: one system call, and no memory is allocated.
        unsafe { command.pre_exec(adopt) };
        command.spawn().unwrap()
    }

    #[test]
    fn everything_below_a_process_dies_and_nothing_else() {
        let mut root = subreaper("sleep 1000 & setsid sh -c 'sleep 1000 & wait' &");
        let pid = root.id() as Pid;
        while survivors(pid, &[]).len() < 3 {
            std::thread::yield_now();
        }
        let [first, ..] = survivors(pid, &[])[..] else { panic!("children just seen") };
        assert!(!survivors(pid, &[first as Pid]).contains(&first));
        while !survivors(pid, &[]).is_empty() {
            pass(pid, &[]);
        }
        assert!(root.try_wait().unwrap().is_none(), "it is not below itself");
        drop(root.stdin.take());
        root.wait().unwrap();
    }

    /// F12: a pid recycled after its process died is not followed.
    #[test]
    fn a_recycled_number_is_never_followed() {
        let mut dead = std::process::Command::new("true").spawn().unwrap();
        let dead_fd = open(dead.id() as Pid).unwrap();
        dead.wait().unwrap();
        let mut stranger =
            std::process::Command::new("sh").args(["-c", "sleep 1000 & wait"]).spawn().unwrap();
        let pid = stranger.id() as Pid;
        while survivors(pid, &[]).is_empty() {
            std::thread::yield_now();
        }
        let mut walk = Walk { signal: libc::SIGKILL, spare: &[], seen: BTreeSet::new() };
        // As if the dead process's pid were now the stranger's.
        walk.visit(pid, Some(&dead_fd), 1);
        assert!(walk.seen.is_empty() && !survivors(pid, &[]).is_empty());
        // The control: with the right descriptor the walk follows.
        let right_fd = open(pid).unwrap();
        walk.visit(pid, Some(&right_fd), 1);
        assert_eq!(walk.seen.len(), 1);
        assert!(stranger.wait().unwrap().success());
    }
}
