//! Prepares what a cell needs on this machine regardless of the engine, while the engine is being found.

use std::pin::pin;

use exec_core::Result;
use exec_init::Program;

use crate::init::{InitPlacement, Supervisor};

/// Preparations that don't depend on the engine.
#[derive(Debug)]
pub(crate) struct Preparation {
    init: InitPlacement,
    backend: String,
    /// PID 1 for engines of this machine's own architecture, or why it can't be placed.
    supervisor: Option<Result<Supervisor>>,
    /// The helpers' program, loaded until they use it. A helper that needs it reports why it can't be loaded.
    #[cfg(target_os = "linux")]
    _helpers: Option<std::sync::Arc<exec_init::Executable>>,
}

impl Preparation {
    fn prepare(init: InitPlacement, backend: &str) -> Self {
        let native = exec_init::native().filter(|_| init == InitPlacement::Auto);
        Self {
            init,
            backend: backend.to_owned(),
            supervisor: native.map(|program| Supervisor::place(program, init, backend)),
            #[cfg(target_os = "linux")]
            _helpers: exec_init::Executable::load().ok().flatten(),
        }
    }

    /// Waits for an engine and prepares meanwhile. If the search fails at once, nothing is prepared.
    pub(crate) async fn beside<T>(
        engine: impl Future<Output = Result<T>>,
        init: InitPlacement,
        backend: &str,
    ) -> Result<(T, Self)> {
        let mut engine = pin!(engine);
        tokio::select! {
            biased;
            found = &mut engine => Ok((found?, Self::prepare(init, backend))),
            () = std::future::ready(()) => {
                let preparation = Self::prepare(init, backend);
                Ok((engine.await?, preparation))
            }
        }
    }

    /// PID 1, placed where an engine with this program's architecture finds it.
    pub(crate) fn supervisor(self, program: Program) -> Result<Supervisor> {
        match self.supervisor {
            Some(placed) if exec_init::native().is_some_and(|native| native.arch == program.arch) => placed,
            _ => Supervisor::place(program, self.init, &self.backend),
        }
    }
}
