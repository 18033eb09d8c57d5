//! The facts a cell reports about itself once it is set up.

use exec_wire::{Facts, Note, PROTOCOL_VERSION, ReadBack};

use super::KillScope;
use crate::cgroup::Cgroup;
use crate::fence::Fence;

/// Values are read back from the kernel where possible, not repeated from the request.
pub(crate) fn gather(scope: KillScope, cgroup: Option<&Cgroup>, fence: &Fence, notes: &[Note]) -> Facts {
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
