//! The reaper as a child process that reads orders from a pipe.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_init::Executable;
use exec_wire::reaper::{Address, Name, Order, SocketPath};

use super::ReaperSetup;
use crate::{Endpoint, Lifeline};

/// A handle on the helper, which cleans up when the last handle is dropped or this process ends.
#[derive(Debug, Clone)]
pub(crate) struct Reaper(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    backend: String,
    engine: Address,
    setup: ReaperSetup,
    program: Arc<Executable>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// `None` before the first container, and after the helper was lost.
    pipe: Option<File>,
    /// The containers that a new helper must know of.
    watched: BTreeMap<String, Stage>,
}

/// The state of a container's creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Expected,
    Made,
}

impl Reaper {
    /// Starts nothing yet: a process that only inspects an engine needs no helper.
    pub(crate) async fn new(endpoint: &Endpoint, backend: &str, setup: ReaperSetup) -> Result<Self> {
        let failed = |error: io::Error| unavailable(backend, error);
        let Some(program) = Executable::load().map_err(failed)? else { return Ok(Self(None)) };
        let Some(engine) = address(endpoint).await.map_err(failed)? else { return Ok(Self(None)) };
        let backend = backend.to_owned();
        Ok(Self(Some(Arc::new(Shared { backend, engine, setup, program, state: Mutex::default() }))))
    }

    /// Must be called before the engine learns of the container.
    pub(crate) fn watch(&self, container: &str) -> Result<()> {
        let Some(shared) = &self.0 else { return Ok(()) };
        let mut state = shared.lock();
        state.watched.insert(container.to_owned(), Stage::Expected);
        let reported = name(container).and_then(|name| match state.tell(&Order::Watch(name)) {
            Ok(()) => Ok(()),
            Err(_) => shared.start(&mut state),
        });
        reported.map_err(|error| {
            state.watched.remove(container);
            unavailable(&shared.backend, error)
        })
    }

    /// The engine has created the container: if it is missing from now on, it is gone and need not be waited for.
    pub(crate) fn made(&self, container: &str) {
        self.tell_of(container, Order::Made, |watched| {
            if let Some(stage) = watched.get_mut(container) {
                *stage = Stage::Made;
            }
        });
    }

    /// The container is gone.
    pub(crate) fn forget(&self, container: &str) {
        self.tell_of(container, Order::Forget, |watched| {
            watched.remove(container);
        });
    }

    fn tell_of(
        &self,
        container: &str,
        order: fn(Name) -> Order,
        note: impl Fn(&mut BTreeMap<String, Stage>),
    ) {
        let Some(shared) = &self.0 else { return };
        let mut state = shared.lock();
        note(&mut state.watched);
        if let Ok(name) = name(container) {
            // A lost helper is replaced when there is something to watch.
            state.tell(&order(name)).ok();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a helper and sends it everything known.
    fn start(&self, state: &mut State) -> io::Result<()> {
        let mut command = tokio::process::Command::from(self.program.command());
        let output = self.setup.lifeline.as_ref().map_or_else(|| Ok(Stdio::null()), Lifeline::as_output)?;
        // The runtime reaps it when it ends.
        let mut child =
            command.arg("reaper").stdin(Stdio::piped()).stdout(output).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        state.pipe = Some(File::from(stdin.into_owned_fd()?));
        state.tell(&Order::Engine(self.engine.clone()))?;
        if let Some(fifo_channels) = &self.setup.fifo_channels {
            state.tell(&Order::FifoChannels(fifo_channels.clone()))?;
        }
        for prefix in &self.setup.records {
            state.tell(&Order::Records(prefix.clone()))?;
        }
        if let Some(note) = &self.setup.log_note {
            state.tell(&Order::LogNote(note.clone()))?;
        }
        if self.setup.dialect.removes_half_made {
            state.tell(&Order::Recheck)?;
        }
        for (watched, stage) in &state.watched.clone() {
            state.tell(&Order::Watch(name(watched)?))?;
            if *stage == Stage::Made {
                state.tell(&Order::Made(name(watched)?))?;
            }
        }
        Ok(())
    }
}

impl State {
    fn tell(&mut self, order: &Order) -> io::Result<()> {
        let mut line = Vec::new();
        order.encode(&mut line);
        let pipe = self.pipe.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let written = pipe.write_all(&line);
        if written.is_err() {
            self.pipe = None;
        }
        written
    }
}

fn name(container: &str) -> io::Result<Name> {
    Name::new(container).map_err(io::Error::other)
}

/// The engine's address for the helper; `None` if the helper can't reach it.
async fn address(endpoint: &Endpoint) -> io::Result<Option<Address>> {
    Ok(match endpoint {
        Endpoint::Unix(path) => {
            let absolute = std::path::absolute(path)?;
            Some(Address::Unix(SocketPath::new(absolute.as_os_str().as_bytes()).map_err(io::Error::other)?))
        }
        Endpoint::Tcp { host, port } => {
            tokio::net::lookup_host((host.as_str(), *port)).await?.next().map(Address::Tcp)
        }
        Endpoint::NamedPipe(_) => None,
    })
}

fn unavailable(backend: &str, error: io::Error) -> Error {
    Error::new(
        ErrorKind::ResourceExhausted,
        "make cell",
        "the helper that cleans up after us can't be started",
    )
    .with_backend(backend)
    .with_source(error)
    .with_remedy(Remedy::host(
        "end other processes, or raise the limits of open files and processes (ulimit -n, -u)",
    ))
}
