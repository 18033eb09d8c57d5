//! Finding out what this host allows by making the smallest cell.

use exec_core::{Error, ErrorKind, Result};
use exec_wire::{
    CgroupPlan, Facts, IdMap, Identity, JailSpec, LandlockPlan, Mount, NAMESPACES_UNAVAILABLE, Namespaces,
    NetworkWall, Walls,
};

use super::{Program, spawn};
use crate::config::NAME;
use crate::jail::{Caller, WallKind};
use crate::maker::group_name;

/// What a cell with these walls has on this host. An error of kind `Unavailable` if the host forbids them.
pub(super) async fn facts(walls: WallKind, caller: Caller, program: &Program) -> Result<Facts> {
    let io = spawn(program, smallest(walls, caller)).await?;
    exec_cell::probe(io, NAME).await.map_err(|error| {
        let text = error.to_string();
        match text.split_once(NAMESPACES_UNAVAILABLE) {
            None => error,
            Some((_, why)) => Error::new(ErrorKind::Unavailable, "make cell", "this host forbids namespaces")
                .with_backend(NAME)
                .with_context("refused", why)
                .with_remedy(
                    "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, \
                     kernel.apparmor_restrict_unprivileged_userns=0), run as root, or use a container",
                ),
        }
    })
}

/// Every kind of wall and limit a real cell has, and as few mounts as possible.
fn smallest(walls: WallKind, caller: Caller) -> JailSpec {
    let namespaces = || Namespaces {
        ids: if caller.uid == 0 { IdMap::All } else { IdMap::Caller },
        network: NetworkWall::Isolated,
        hostname: "probe".into(),
        mounts: vec![Mount::Proc, Mount::Dev { shm_size: 1 << 20 }],
    };
    JailSpec {
        walls: match walls {
            WallKind::Namespaces => Walls::Namespaces(namespaces()),
            WallKind::Subreaper => Walls::Subreaper,
        },
        identity: Identity { uid: caller.uid, gid: caller.gid, groups: Vec::new() },
        cgroup: CgroupPlan {
            name: group_name(),
            memory: Some(1 << 30),
            pids: Some(64),
            cpu_milli: Some(1000),
        },
        landlock: Some(LandlockPlan { deny_tcp: true, read: vec![b"/".to_vec()], write: Vec::new() }),
    }
}
