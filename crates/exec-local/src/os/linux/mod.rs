//! Linux: namespaces where the host allows them, or else a subreaper.

mod first;
mod keeper;
mod program;

pub(crate) use keeper::spawn;

use exec_core::{ErrorKind, Executor, Result};
use exec_host::HostView;

use crate::config::{LocalConfig, WallsChoice};
use crate::jail::{Caller, WallKind};
use crate::maker::LocalMaker;

/// The executor with the chosen walls, or the strongest available.
pub(crate) async fn executor(config: &LocalConfig) -> Result<Box<dyn Executor>> {
    match config.walls {
        WallsChoice::ProcessGroup => {
            Ok(Box::new(super::process_group::ProcessGroupExec::new(config.watch.clone())))
        }
        WallsChoice::Namespaces => with_walls(WallKind::Namespaces, config).await,
        WallsChoice::Subreaper => with_walls(WallKind::Subreaper, config).await,
        WallsChoice::Auto => match with_walls(WallKind::Namespaces, config).await {
            Err(error) if error.kind() == ErrorKind::Unavailable => {
                tracing::warn!(%error, "no namespaces here; a subreaper takes their place");
                with_walls(WallKind::Subreaper, config).await
            }
            other => other,
        },
    }
}

async fn with_walls(walls: WallKind, config: &LocalConfig) -> Result<Box<dyn Executor>> {
    let host = HostView::look(&|name| std::env::var_os(name));
    let maker = LocalMaker::new(walls, caller(), host, program::load()?, config.watch.clone());
    Ok(Box::new(first::executor(maker, config).await?))
}

fn caller() -> Caller {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    Caller { uid, gid, rules_all_ids: uid == 0 && knows_all_ids() }
}

/// Whether every user id exists here, as on a host; a rootless container has only some.
fn knows_all_ids() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().eq(["0", "0", "4294967295"])
}
