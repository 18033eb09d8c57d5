//! Any Unix: a process group. Nothing is hidden or restricted, which the isolation report shows. A command that leaves
//! its group escapes, so Linux uses this only on request.

mod handle;
mod pump;

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Arc;

use async_trait::async_trait;
use exec_cell::new_run_id;
use exec_control::{Begun, Place, Process, Watch};
use exec_core::{
    Capabilities, Cmd, Error, ErrorKind, Exception, ExecOpts, Execution, Executor, Fences, Health, Isolation,
    IsolationLevel, Lifetime, Plan, Remedy, Result, SessionName, Stdin,
};
use tokio::process::Command;

use crate::config::NAME;

/// Runs commands as process groups.
#[derive(Debug)]
pub(crate) struct ProcessGroupExec {
    capabilities: Capabilities,
    isolation: Arc<Isolation>,
    watch: Watch,
}

impl ProcessGroupExec {
    pub(crate) fn new(watch: Watch) -> Self {
        let level = IsolationLevel::ProcessGroup;
        let degraded = vec![
            "process group only: files, network, other processes and resources are not fenced off".to_owned(),
            "a command that leaves its process group survives the run".to_owned(),
        ];
        let isolation = Isolation {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            degraded,
            ..Isolation::new(level)
        };
        Self {
            capabilities: Capabilities {
                level,
                claims: BTreeSet::new(),
                tty: false,
                sessions: false,
                images: false,
                engine: None,
                exceptions: BTreeSet::from([Exception::NoUsage, Exception::DeadlinesOutside]),
            },
            isolation: Arc::new(isolation),
            watch,
        }
    }
}

#[async_trait]
impl Executor for ProcessGroupExec {
    fn name(&self) -> &str {
        NAME
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution> {
        self.watch.admit().map_err(|error| error.with_backend(NAME))?;
        let plan = Plan::resolve(cmd, opts, std::env::vars_os(), self.watch.own_places())?;
        refuse_what_a_group_cannot_hold(&plan, opts)?;
        let plan = plan.prepare(Fences::None)?;
        let mut command = Command::new(&plan.argv[0]);
        command
            .args(&plan.argv[1..])
            .env_clear()
            .envs(&plan.env)
            .current_dir(&plan.cwd)
            .stdin(if matches!(plan.stdin, Stdin::Empty) { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let seat = self.watch.expect(NAME)?;
        let id = new_run_id();
        let begun = Begun { id: &id, cell: &seat, backend: NAME, plan: &plan, isolation: &self.isolation };
        let note = self.watch.begin(begun).inspect_err(|_| seat.gone())?;
        let mut child = match command.spawn().map_err(|error| spawn_error(cmd, error)) {
            Ok(child) => child,
            Err(error) => {
                note.failed(&error);
                seat.gone();
                return Err(error);
            }
        };
        if let Some(leader) = child.id().and_then(Process::now)
            && let Err(error) = seat.stands(&Place::Group { leader })
        {
            child.kill().await.ok();
            note.failed(&error);
            seat.gone();
            return Err(error.with_backend(NAME));
        }
        let isolation = Arc::clone(&self.isolation);
        Ok(Execution::new(
            id,
            handle::GroupRun::attend(child, &plan, isolation, handle::Papers { note, seat }),
        ))
    }

    async fn end_session(&self, _: &SessionName) -> Result<()> {
        Ok(())
    }

    async fn health(&self) -> Result<Health> {
        Ok(Health { warm_cells: 0, sessions: 0 })
    }
}

/// The strongest local execution of a Unix that is not Linux.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_async, reason = "the same signature on every system")]
pub(crate) async fn executor(config: &crate::LocalConfig) -> Result<Box<dyn Executor>> {
    use exec_core::Change;

    use crate::WallsChoice;
    match config.walls {
        WallsChoice::Auto | WallsChoice::ProcessGroup => {
            Ok(Box::new(ProcessGroupExec::new(config.watch.clone())))
        }
        WallsChoice::Namespaces | WallsChoice::Subreaper => {
            Err(Error::new(ErrorKind::Unavailable, "load", "only Linux has namespaces and subreapers")
                .with_backend(NAME)
                .with_remedy(Remedy::container().or(Change::leave_out("walls"))))
        }
    }
}

/// Refuses options that a process group can't honour.
fn refuse_what_a_group_cannot_hold(plan: &Plan, opts: &ExecOpts) -> Result<()> {
    let floor = opts.min_isolation.filter(|floor| *floor > IsolationLevel::ProcessGroup);
    let asked = [
        (floor.is_some(), "more isolation than a process group has", ErrorKind::IsolationTooWeak),
        (plan.tty.is_some(), "a terminal", ErrorKind::Unsupported),
        (plan.lifetime != Lifetime::Ephemeral, "a session", ErrorKind::Unsupported),
        (plan.network == Some(exec_core::Network::None), "a network of `none`", ErrorKind::Unsupported),
        (
            !plan.limits.required.is_empty(),
            "a limit of memory, CPUs or processes",
            ErrorKind::LimitNotEnforced,
        ),
        (plan.mounts.len() > 1 || plan.has_fences(), "mounts and writable paths", ErrorKind::Unsupported),
        (
            plan.mounts.iter().any(|mount| mount.access == exec_core::Access::ReadOnly),
            "a read-only workspace",
            ErrorKind::Unsupported,
        ),
    ];
    match asked.iter().find(|(asked, ..)| *asked) {
        None => Ok(()),
        Some((_, what, kind)) => {
            Err(Error::new(*kind, "start", format!("a plain process group can't give the command {what}"))
                .with_backend(NAME)
                .with_remedy(Remedy::container().or("leave that option out")))
        }
    }
}

fn spawn_error(cmd: &Cmd, error: std::io::Error) -> Error {
    let program = cmd.program().to_string_lossy();
    let (kind, message) = match error.kind() {
        std::io::ErrorKind::NotFound => {
            (ErrorKind::ProgramNotFound, format!("there is no program `{program}`"))
        }
        std::io::ErrorKind::PermissionDenied => {
            (ErrorKind::ProgramNotExecutable, format!("`{program}` can't be executed"))
        }
        _ => (ErrorKind::Io, format!("`{program}` could not be started")),
    };
    Error::new(kind, "start", message)
        .with_backend(NAME)
        .with_source(error)
        .with_remedy("check the spelling and that it is an executable file")
}

#[cfg(test)]
mod tests {
    use exec_control::{Audit, StateDir};

    use super::*;

    /// A13: mounts keep the files git takes orders from, and a process group has none.
    #[tokio::test]
    async fn a_repository_is_refused_and_left_as_it_is() {
        let (state, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let git = workspace.path().join(".git");
        std::fs::create_dir(&git).unwrap();
        let executor = ProcessGroupExec::new(Watch::new(StateDir::at(state.path()), Audit::Off));
        let error = executor.start(&Cmd::new("true"), &ExecOpts::in_workspace(workspace.path())).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(std::fs::read_dir(&git).unwrap().count(), 0);
    }
}
