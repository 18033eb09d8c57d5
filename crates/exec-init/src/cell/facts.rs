//! What the cell says about itself once it stands.

use exec_wire::{Facts, PROTOCOL_VERSION, ReadBack};

use super::KillScope;
use crate::cgroup::Cgroup;
use crate::fence::Fence;

/// Read back from the kernel where it can be, not repeated from what was asked for.
pub(crate) fn gather(scope: KillScope, cgroup: Option<&Cgroup>, fence: &Fence, notes: &[String]) -> Facts {
    Facts {
        version: PROTOCOL_VERSION,
        pid_namespace: scope == KillScope::Namespace,
        uid: rustix::process::getuid().as_raw(),
        gid: rustix::process::getgid().as_raw(),
        capabilities: fence.capabilities,
        no_new_privs: fence.no_new_privs,
        seccomp: fence.seccomp,
        landlock_abi: fence.landlock_abi,
        inotify_instances: crate::quota::inotify_instances(),
        limits: cgroup.map_or_else(ReadBack::default, Cgroup::read_back),
        notes: notes.iter().chain(&fence.notes).cloned().collect(),
    }
}
