//! The process outside a cell that makes it, waits for it, and cleans up after it.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use exec_cell::{CellIo, Keeper, PostMortem};
use exec_control::{Place, Process, Seat};
use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_init::Executable;
use exec_wire::{EXIT_OUT_OF_MEMORY, JailSpec, ToCell};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::{Notify, watch};

use crate::config::NAME;

/// Output passes through the pipe in pieces of up to this size: larger pieces mean fewer context switches.
const PIPE_SIZE: usize = 1 << 20;

/// Starts a keeper and sends it the specification; the cell greets on the returned stream. `finish` completes
/// the specification while the keeper starts.
pub(crate) async fn spawn(
    program: &Executable,
    mut spec: JailSpec,
    finish: impl FnOnce(&mut JailSpec),
    seat: Seat,
    scratch: Option<PathBuf>,
) -> Result<CellIo> {
    let (child, mut to_cell, from_cell) = start(program).inspect_err(|_| seat.gone())?;
    let keeper = child.id().and_then(Process::now);
    let hold = Box::new(LocalKeeper::watch(child, seat.clone()));
    // A process that is gone already leaves nothing to record.
    if let Some(keeper) = keeper
        && let Err(error) = seat.stands(&Place::Keeper { keeper, scratch })
    {
        hold.kill();
        hold.gone().await;
        return Err(error.with_backend(NAME));
    }
    finish(&mut spec);
    let mut first_frame = Vec::new();
    ToCell::Jail(Box::new(spec)).encode(0, &mut first_frame);
    // If the write fails the keeper has ended, and the reading side reports how.
    to_cell.write_all(&first_frame).await.ok();
    Ok(CellIo { reader: Box::new(from_cell), writer: Box::new(to_cell), keeper: hold, seat })
}

fn start(program: &Executable) -> Result<(Child, pipe::Sender, pipe::Receiver)> {
    let (to_cell, cell_stdin) = pipe::pipe().map_err(|error| failed("making a pipe", error))?;
    let (cell_stdout, from_cell) = pipe::pipe().map_err(|error| failed("making a pipe", error))?;
    // Optional: a smaller pipe is only slower.
    rustix::pipe::fcntl_setpipe_size(&from_cell, PIPE_SIZE).ok();
    let child = Command::from(program.command())
        .arg("local")
        .stdin(cell_stdin.into_blocking_fd().map_err(|error| failed("making a pipe", error))?)
        .stdout(cell_stdout.into_blocking_fd().map_err(|error| failed("making a pipe", error))?)
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed("starting exec-init", error))?;
    Ok((child, to_cell, from_cell))
}

fn failed(what: &str, error: std::io::Error) -> Error {
    use rustix::io::Errno;
    let exhausted = [Errno::AGAIN, Errno::NOMEM, Errno::NFILE, Errno::MFILE];
    let kind = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(errno) if exhausted.contains(&errno) => ErrorKind::ResourceExhausted,
        _ => ErrorKind::Io,
    };
    Error::new(kind, "make cell", format!("{what} for the sandbox failed"))
        .with_backend(NAME)
        .with_source(error)
        .with_remedy(Remedy::host(
            "end other processes, or raise the limits of open files and processes (ulimit -n, -u)",
        ))
}

/// The host's handle on a keeper process. The keeper ends when nothing of its cell is left, so its end proves
/// that.
#[derive(Debug)]
struct LocalKeeper {
    kill: Arc<Notify>,
    gone: watch::Receiver<Option<ExitStatus>>,
}

impl LocalKeeper {
    fn watch(mut child: Child, seat: Seat) -> Self {
        let kill = Arc::new(Notify::new());
        let (sender, gone) = watch::channel(None);
        let killed = Arc::clone(&kill);
        tokio::spawn(async move {
            let status = loop {
                tokio::select! {
                    status = child.wait() => break status,
                    () = killed.notified() => {
                        child.start_kill().ok();
                    }
                }
            };
            seat.gone();
            sender.send_replace(status.ok());
        });
        Self { kill, gone }
    }
}

#[async_trait]
impl Keeper for LocalKeeper {
    fn kill(&self) {
        self.kill.notify_one();
    }

    async fn gone(&self) {
        // An error means that the watching task is gone, and with it the runtime.
        self.gone.clone().wait_for(Option::is_some).await.ok();
    }

    fn post_mortem(&self) -> PostMortem {
        match *self.gone.borrow() {
            Some(status) if status.code() == Some(EXIT_OUT_OF_MEMORY) => PostMortem::OutOfMemory,
            Some(status) if !status.success() => PostMortem::Found(format!("its keeper ended with {status}")),
            _ => PostMortem::Unknown,
        }
    }
}
