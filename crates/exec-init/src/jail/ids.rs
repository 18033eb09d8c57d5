//! User and group ids: which ids exist inside, and which the commands run with.
//!
//! The map is written from outside and the switch is made inside; both are here because the map limits the
//! switch.

use exec_wire::{IdMap, Identity};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Gid, Pid, Uid, getegid, geteuid, getgid, getuid};
use rustix::thread::{
    CapabilitySet, capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

use super::fail::Fail;

/// Writes the id maps of a process just created in a user namespace.
pub(super) fn map(pid: Pid, ids: IdMap) -> Result<(), Fail> {
    let (users, groups) = match ids {
        IdMap::All => ("0 0 4294967295".to_owned(), "0 0 4294967295".to_owned()),
        IdMap::Caller => {
            let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
            (format!("{uid} {uid} 1"), format!("{gid} {gid} 1"))
        }
    };
    if ids == IdMap::Caller {
        // An ordinary user may map a group only after giving up `setgroups`.
        write(pid, "setgroups", "deny")?;
    }
    write(pid, "uid_map", &users)?;
    write(pid, "gid_map", &groups)
}

fn write(pid: Pid, file: &str, text: &str) -> Result<(), Fail> {
    let path = format!("/proc/{}/{file}", pid.as_raw_pid());
    let open = open(path.as_str(), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    match open.and_then(|fd| rustix::io::write(&fd, text.as_bytes())) {
        Ok(_) => Ok(()),
        Err(why) => Err(Fail::wall("write", format_args!("{file} of PID 1"), why)),
    }
}

/// Switches to the identity of the commands, irrevocably. Capabilities that only a change of user would need
/// are dropped before: an ordinary user can't lower the bounding set.
pub(super) fn become_identity(identity: &Identity, groups: Groups) -> Result<(), Fail> {
    crate::fence::drop_bounding_set();
    let fail = |what: &str, id: u32, why: Errno| Fail::new(what, id, why);
    let (uid, gid) = (Uid::from_raw(identity.uid), Gid::from_raw(identity.gid));
    if groups == Groups::Set {
        let list: Vec<_> = identity.groups.iter().map(|group| Gid::from_raw(*group)).collect();
        set_thread_groups(&list)
            .map_err(|why| Fail::new("setgroups", format_args!("{:?}", identity.groups), why))?;
    }
    // Ids outside every map can be kept but not set.
    if (getgid(), getegid()) != (gid, gid) {
        set_thread_res_gid(gid, gid, gid).map_err(|why| fail("setresgid", identity.gid, why))?;
    }
    if (getuid(), geteuid()) != (uid, uid) {
        set_thread_res_uid(uid, uid, uid).map_err(|why| fail("setresuid", identity.uid, why))?;
    }
    if getuid() != uid || geteuid() != uid || getgid() != gid || getegid() != gid {
        return Err(Fail::new("switch user", identity.uid, "the ids did not change"));
    }
    Ok(())
}

impl Groups {
    /// Whether this process may set its groups. Even root may be denied: in another user's namespace, or in a
    /// container that drops capabilities.
    pub(super) fn of_this_process() -> Self {
        let allowed = std::fs::read("/proc/self/setgroups").map_or(true, |text| text.starts_with(b"allow"));
        let able = capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SETGID));
        if able && allowed { Self::Set } else { Self::Keep }
    }
}

/// Whether the supplementary groups can be set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Groups {
    /// Allowed with the capability, or where all ids are mapped.
    Set,
    /// Not allowed: the caller's groups stay.
    Keep,
}
