//! The first cell of an executor, which reports what this host allows.

use exec_cell::CellExecutor;
use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_wire::{CgroupPlan, Fatal, Identity, JailSpec, LandlockPlan, Mount, Namespaces, NetworkWall, Walls};

use crate::config::{LocalConfig, NAME};
use crate::jail::{Caller, WallKind};
use crate::maker::LocalMaker;

/// An executor that knows its capabilities. It learns them from the cell of the first run, if the
/// configuration has one, or else from the smallest possible cell. Fails with `Unavailable` if the host
/// forbids such cells.
pub(super) async fn executor(
    mut maker: LocalMaker,
    config: &LocalConfig,
) -> Result<CellExecutor<LocalMaker>> {
    let learnt = match &config.first_run {
        Some(opts) => exec_cell::first_cell(&maker, opts).await.map(|(facts, ready)| (facts, Some(ready))),
        None => match maker.make_named(smallest(maker.walls(), maker.caller()), |_| {}).await {
            Ok(io) => exec_cell::probe(io, NAME).await.map(|facts| (facts, None)),
            Err(error) => Err(error),
        },
    };
    let (facts, ready) = learnt.map_err(told_apart)?;
    maker.learn(&facts);
    let executor = CellExecutor::new(maker, config.pool());
    if let Some(ready) = ready {
        executor.keep(ready);
    }
    Ok(executor)
}

/// Distinguishes a host that forbids namespaces from a request that can't be carried out.
fn told_apart(error: Error) -> Error {
    match exec_cell::fatal(&error) {
        Some(Fatal::NamespacesUnavailable(why)) => Error::new(
            ErrorKind::Unavailable,
            "make cell",
            "this host forbids namespaces",
        )
        .with_backend(NAME)
        .with_context("refused", why)
        .with_remedy(
            Remedy::host(
                "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, \
                 kernel.apparmor_restrict_unprivileged_userns=0)",
            )
            .or(Remedy::host("run as root"))
            .or(Remedy::container()),
        ),
        _ => error,
    }
}

/// Every kind of wall and limit a real cell has, and as few mounts as possible.
fn smallest(walls: WallKind, caller: Caller) -> JailSpec {
    let namespaces = || Namespaces {
        ids: caller.id_map(),
        network: NetworkWall::Isolated,
        hostname: "probe".into(),
        mounts: vec![Mount::Proc, Mount::Dev { shm_size: 1 << 20 }],
    };
    JailSpec {
        walls: match walls {
            WallKind::Namespaces => Walls::Namespaces(namespaces()),
            WallKind::Subreaper => Walls::Subreaper { scratch: Vec::new() },
        },
        identity: Identity { uid: caller.uid, gid: caller.gid, groups: Vec::new() },
        cgroup: CgroupPlan {
            name: String::new(),
            memory: Some(1 << 30),
            pids: Some(64),
            cpu_milli: Some(1000),
        },
        landlock: Some(LandlockPlan { deny_tcp: true, read: vec![b"/".to_vec()], write: Vec::new() }),
        log_note: Vec::new(),
        records: Vec::new(),
    }
}
