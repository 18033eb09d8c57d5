//! Limits that the kernel counts per user: a command that uses them up takes them from every other process of
//! that user, on the host too. A cell gets a share.
//!
//! Kernel keys need no limit here: the system call filter refuses them.

use exec_wire::{Note, Subject};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The host's limit for each user, and that of a user namespace, which counts towards the former.
struct Quota {
    host: &'static str,
    own: &'static str,
}

const INSTANCES: Quota =
    Quota { host: "/proc/sys/fs/inotify/max_user_instances", own: "/proc/sys/user/max_inotify_instances" };

const WATCHES: [Quota; 4] = [
    INSTANCES,
    Quota { host: "/proc/sys/fs/inotify/max_user_watches", own: "/proc/sys/user/max_inotify_watches" },
    Quota { host: "/proc/sys/fs/fanotify/max_user_groups", own: "/proc/sys/user/max_fanotify_groups" },
    Quota { host: "/proc/sys/fs/fanotify/max_user_marks", own: "/proc/sys/user/max_fanotify_marks" },
];

/// The divisor for a cell's share: few programs use more than a handful of instances, and several cells run
/// at once.
const PART: u64 = 4;

/// Queued signals and message queues. The limits are set per process, but compared with the total of its
/// user.
const QUEUES: [Resource; 2] = [Resource::Sigpending, Resource::Msgqueue];

/// Lowers the quotas of this process's own user namespace, while it still may.
pub(crate) fn lower_watches(notes: &mut Vec<Note>) {
    for quota in WATCHES {
        let Some(host) = read(quota.host) else { continue };
        if let Err(why) = write(quota.own, host / PART) {
            notes.push(Note::new(Subject::Quotas, format_args!("{}: {why}", quota.own)));
        }
    }
}

/// The limit on inotify instances in this user namespace, as the kernel reports it, if lower than on the
/// host.
pub(crate) fn inotify_instances() -> Option<u64> {
    let (own, host) = (read(INSTANCES.own)?, read(INSTANCES.host)?);
    (own < host).then_some(own)
}

/// Halves the queue limits of this process and its children. A limit that can't be lowered stays.
pub(crate) fn halve_queues() {
    for resource in QUEUES {
        let half = getrlimit(resource).maximum.map(|most| most / 2);
        if half.is_some() {
            let _ = setrlimit(resource, Rlimit { current: half, maximum: half });
        }
    }
}

fn read(path: &str) -> Option<u64> {
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut buffer = [0; 32];
    let count = rustix::io::read(&file, &mut buffer).ok()?;
    str::from_utf8(buffer.get(..count)?).ok()?.trim().parse().ok()
}

fn write(path: &str, value: u64) -> Result<(), Errno> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, value.to_string().as_bytes()).map(drop)
}
