//! A backend's part in finding, using, stopping and cleaning up its sandboxes.
//!
//! Nothing here knows a particular backend: `agent-exec` has the list.

mod engines;
mod images;

use std::fmt::Debug;

use async_trait::async_trait;
use exec_control::Watch;
use exec_core::{Detected, ExecOpts, Result};

pub use engines::{Engines, Left, Leftovers, Removal};
pub use images::{BuildStep, ImageStep, ImageStore, Progress, PullStep, StoredImage};

/// A kind of sandbox.
///
/// A name and a way to detect it are enough. Backends whose cells are on an engine, out of reach for this machine's
/// processes, provide [`engines`](Self::engines) too.
///
/// # Examples
///
/// ```
/// use exec_cell::{Backend, Setup};
/// use exec_core::{Detected, Result};
///
/// #[derive(Debug)]
/// struct MicroVm;
///
/// #[async_trait::async_trait]
/// impl Backend for MicroVm {
///     fn name(&self) -> &str {
///         "microvm"
///     }
///
///     async fn detect(&self, _setup: Setup) -> Result<Detected> {
///         // Where it works: Ok(Detected::Ready(executor))
///         Ok(Detected::Missing { reason: "there is no /dev/kvm".into(), remedy: "load the module `kvm`".into() })
///     }
/// }
/// ```
#[async_trait]
pub trait Backend: Debug + Send + Sync {
    /// The name that selects it. Executors and results carry it too.
    fn name(&self) -> &str;

    /// Other names that select it. A backend's own name takes precedence over an alias of another.
    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// One line for help texts; the name by default.
    fn description(&self) -> &str {
        self.name()
    }

    /// Whether its commands run in images, so that options about images apply.
    fn has_images(&self) -> bool {
        false
    }

    /// Looks for it and makes its executor.
    ///
    /// With [`Setup::first_run`], the cell of that run is made too: a sandbox that can't run it fails here.
    ///
    /// # Errors
    ///
    /// Returns `Missing` if it does not work on this machine. An error is about the request: a search that has a choice
    /// passes this backend over, unless the options make no sense (`InvalidInput`) or an emergency stop is in force
    /// (`Stopped`).
    async fn detect(&self, setup: Setup) -> Result<Detected>;

    /// The engines its cells are on, if any.
    fn engines(&self) -> Option<Box<dyn Engines + '_>> {
        None
    }
}

/// The setup of an executor, for any backend.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Where its cells and runs are recorded.
    pub watch: Watch,
    /// The options of the first run, if already known.
    pub first_run: Option<ExecOpts>,
    /// Cells kept warm per exact specification; `None` leaves that to the backend.
    pub warm_cells: Option<usize>,
    /// Receives the progress of image pulls and builds; `None` leaves that to the backend.
    pub progress: Option<Progress>,
}
