//! Places PID 1 where an engine finds it: `exec-init` is a file that is mounted into containers.

mod volume;

use std::sync::{Mutex, PoisonError};

use exec_core::Result;
use exec_init::Program;

use crate::host::cache;
use crate::host::fingerprint::fingerprint;
use crate::lifecycle::ContainerLifecycle;

/// Its directory in containers.
pub(crate) const INIT_DIRECTORY: &str = "/.agentctl";
pub(crate) const INIT_PATH: &str = "/.agentctl/exec-init";
const INIT_NAME: &str = "exec-init";

/// The `/etc/hosts` that an engine writes when it sets up a network.
const HOSTS: &[u8] = b"127.0.0.1\tlocalhost cell\n::1\tlocalhost ip6-localhost ip6-loopback\n";

/// Where containers get it from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Files of this host, for engines that see them.
    Bind {
        source: String,
        /// Names of the loopback, for images that have none.
        hosts: String,
    },
    /// A volume of the engine, for engines that don't.
    Volume { name: String },
}

/// How PID 1 gets into containers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InitPlacement {
    /// As a file of this machine, or from a volume if the engine does not see that file.
    #[default]
    Auto,
    /// From a volume of the engine.
    Volume,
}

/// The program and its current placement.
#[derive(Debug)]
pub(crate) struct Supervisor {
    program: Program,
    placement: Mutex<Option<Placement>>,
    /// One caller fills the volume; the others wait for it.
    filling: tokio::sync::Mutex<()>,
}

impl Supervisor {
    pub(crate) fn place(program: Program, wanted: InitPlacement, backend: &str) -> Result<Self> {
        let placement = match wanted {
            InitPlacement::Auto => Some(as_file(&program, backend)?),
            InitPlacement::Volume => None,
        };
        Ok(Self { program, placement: Mutex::new(placement), filling: tokio::sync::Mutex::default() })
    }

    /// Its placement for containers of this image.
    pub(crate) async fn placement(&self, lifecycle: &ContainerLifecycle, image: &str) -> Result<Placement> {
        match self.known() {
            Some(placement) => Ok(placement),
            None => self.move_to_volume(lifecycle, image).await,
        }
    }

    /// Moves it into a volume of the engine for good. An image is needed because engines fill volumes only through
    /// containers.
    pub(crate) async fn move_to_volume(
        &self,
        lifecycle: &ContainerLifecycle,
        image: &str,
    ) -> Result<Placement> {
        let _turn = self.filling.lock().await;
        if let Some(placement @ Placement::Volume { .. }) = self.known() {
            return Ok(placement);
        }
        let name = format!("agentctl-{}", file_name(&self.program));
        volume::fill(lifecycle, &name, image, self.program.bytes).await?;
        let placement = Placement::Volume { name };
        *self.placement.lock().unwrap_or_else(PoisonError::into_inner) = Some(placement.clone());
        Ok(placement)
    }

    fn known(&self) -> Option<Placement> {
        self.placement.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Stores the program where engines that see this host's files find it.
fn as_file(program: &Program, backend: &str) -> Result<Placement> {
    Ok(Placement::Bind {
        source: cache::keep(&file_name(program), program.bytes, backend)?,
        hosts: cache::keep("hosts", HOSTS, backend)?,
    })
}

fn file_name(program: &Program) -> String {
    format!("{INIT_NAME}-{}-{:016x}", exec_init::VERSION, fingerprint(program.bytes))
}
