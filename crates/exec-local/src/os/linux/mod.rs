//! Linux: namespaces where the host allows them, else a subreaper.

mod keeper;
mod probe;
mod program;

pub(crate) use keeper::spawn;
pub(crate) use program::Program;

use exec_cell::CellExecutor;
use exec_core::{Error, ErrorKind, Executor, Result};
use exec_host::HostView;

use crate::config::{LocalConfig, NAME, WallsChoice};
use crate::isolation;
use crate::jail::{Caller, WallKind};
use crate::maker::LocalMaker;

/// The executor with the walls that were chosen, or the strongest that can be had.
pub(crate) async fn executor(config: &LocalConfig) -> Result<Box<dyn Executor>> {
    let caller = caller();
    let program = Program::load()?;
    let (walls, facts) = match config.walls {
        WallsChoice::ProcessGroup => return Ok(Box::new(super::process_group::ProcessGroupExec::new())),
        WallsChoice::Namespaces => {
            (WallKind::Namespaces, probe::facts(WallKind::Namespaces, caller, &program).await?)
        }
        WallsChoice::Subreaper => {
            (WallKind::Subreaper, probe::facts(WallKind::Subreaper, caller, &program).await?)
        }
        WallsChoice::Auto => strongest(caller, &program).await?,
    };
    let home = match walls {
        WallKind::Namespaces => None,
        WallKind::Subreaper => Some(private_home()?),
    };
    let host = HostView::look(&|name| std::env::var_os(name));
    let capabilities = isolation::capabilities(walls, &facts);
    let maker = LocalMaker::new(walls, caller, host, program, capabilities, home);
    Ok(Box::new(CellExecutor::new(maker, config.pool())))
}

async fn strongest(caller: Caller, program: &Program) -> Result<(WallKind, exec_wire::Facts)> {
    match probe::facts(WallKind::Namespaces, caller, program).await {
        Ok(facts) => Ok((WallKind::Namespaces, facts)),
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            tracing::warn!(%error, "no namespaces here; a subreaper takes their place");
            Ok((WallKind::Subreaper, probe::facts(WallKind::Subreaper, caller, program).await?))
        }
        Err(error) => Err(error),
    }
}

fn private_home() -> Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("agentctl-home-").tempdir().map_err(|error| {
        Error::new(ErrorKind::Io, "load", "a private home directory for commands could not be made")
            .with_backend(NAME)
            .with_source(error)
            .with_remedy("check that the temporary directory is writable and has room")
    })
}

fn caller() -> Caller {
    Caller { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
}
