//! Turns a cell maker into an executor.

use std::collections::hash_map::RandomState;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use exec_control::Begun;
use exec_core::{
    Capabilities, Change, Cmd, Error, ErrorKind, ExecOpts, Execution, Executor, Health, Lifetime, Prepared,
    Remedy, Result, RunId, SessionName,
};
use tokio::time::Instant;
use tracing::Instrument;

use crate::admission::{require_floor, require_limits};
use crate::closing::Terms;
use crate::maker::CellMaker;
use crate::plan::plan;
use crate::pool::{Pool, PoolConfig};
use crate::probe::{FirstCell, first_cell};
use crate::request;
use crate::run::Run;
use crate::sessions::{Seated, Sessions};
use crate::verdict::RunLimits;

/// Runs commands in the cells that `M` makes.
#[derive(Debug)]
pub struct CellExecutor<M: CellMaker> {
    maker: Arc<M>,
    pool: Pool<M>,
    sessions: Sessions<M>,
}

impl<M: CellMaker> CellExecutor<M> {
    /// An executor over this maker.
    pub fn new(maker: M, pool: PoolConfig) -> Self {
        let maker = Arc::new(maker);
        Self { pool: Pool::new(Arc::clone(&maker), pool), sessions: Sessions::new(), maker }
    }

    /// Makes the cell of an upcoming run and keeps it for that run, even beyond the pool's bounds.
    pub async fn prepare_first(&self, opts: &ExecOpts) -> Result<()> {
        let (_, first) = first_cell(&*self.maker, opts).await?;
        self.keep(first);
        Ok(())
    }

    /// Keeps a cell for the run it was made for, even beyond the pool's bounds.
    pub fn keep(&self, first: FirstCell<M::Spec>) {
        self.pool.keep(first);
    }

    /// Plans a request and specifies its cell.
    async fn plan(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<(Prepared, M::Spec)> {
        require_floor(self.maker.capabilities(), opts, self.maker.name())?;
        if !self.maker.capabilities().images {
            refuse_container_options(opts).map_err(|error| error.with_backend(self.maker.name()))?;
        }
        plan(&*self.maker, cmd, opts).await
    }

    async fn cell_for(&self, plan: &Prepared, spec: &M::Spec) -> Result<Seated> {
        match &plan.lifetime {
            Lifetime::Ephemeral => {
                let ready = self.pool.take(spec).await?;
                Ok(Seated { cell: Arc::new(ready.cell), standing: ready.standing, reopened: None })
            }
            Lifetime::Session(name) => {
                let asked = || self.maker.spec(&plan.without_fences());
                self.sessions.cell(name, spec, asked, &self.pool).await
            }
        }
    }

    async fn start_run(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution> {
        let begun = Instant::now();
        let watch = self.maker.watch();
        watch.admit().map_err(|error| error.with_backend(self.name()))?;
        let (plan, spec) = self.plan(cmd, opts).await?;
        let Seated { cell, standing, reopened } = self.cell_for(&plan, &spec).await?;
        require_limits(&plan, &standing.isolation, self.maker.name(), || self.maker.limit_remedy())?;
        let start = request::start(&plan, self.maker.rlimits(&plan, &cell.facts));
        let id = new_run_id();
        let note = watch.begin(Begun {
            id: &id,
            cell: &cell.seat,
            backend: self.name(),
            plan: &plan,
            isolation: &standing.isolation,
        })?;
        let terms = Terms { standing, limits: RunLimits::of(&plan), begun, reopened };
        let refill = |ending| {
            let place = (plan.lifetime == Lifetime::Ephemeral).then(|| self.pool.reserve(&spec)).flatten();
            async move {
                if let Some(place) = place {
                    place.refill_after(ending).await;
                }
            }
        };
        Ok(Execution::new(id, Run::start(cell, terms, &plan, start, note, refill).await?))
    }
}

#[async_trait]
impl<M: CellMaker> Executor for CellExecutor<M> {
    fn name(&self) -> &str {
        self.maker.name()
    }

    fn capabilities(&self) -> &Capabilities {
        self.maker.capabilities()
    }

    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution> {
        let program = cmd.program().to_string_lossy();
        let span = tracing::info_span!("start", executor = self.name(), %program);
        self.start_run(cmd, opts).instrument(span).await
    }

    async fn warm(&self, opts: &ExecOpts) -> Result<()> {
        let (_, spec) = self.plan(&Cmd::new("true"), opts).await?;
        self.pool.warm(&spec).await
    }

    async fn end_session(&self, session: &SessionName) -> Result<()> {
        self.sessions.end(session).await;
        Ok(())
    }

    async fn health(&self) -> Result<Health> {
        // A new, empty directory: the one for temporary files may contain our own places.
        let workspace = tempfile::tempdir().map_err(|error| {
            Error::new(ErrorKind::Io, "health", "no directory can be made to try a sandbox in")
                .with_source(error)
                .with_remedy(Remedy::host("make room in the directory of temporary files"))
        })?;
        let opts = ExecOpts::in_workspace(workspace.path());
        let (_, spec) = self.plan(&Cmd::new("true"), &opts).await?;
        let ready = self.pool.take(&spec).await?;
        if !ready.cell.ping().await {
            return Err(Error::new(ErrorKind::CellDied, "health", "a new sandbox does not answer")
                .with_backend(self.maker.name()));
        }
        ready.cell.end().await;
        Ok(Health { warm_cells: self.pool.len(), sessions: self.sessions.len().await })
    }
}

/// Refuses options that only a container can honour.
fn refuse_container_options(opts: &ExecOpts) -> Result<()> {
    let (message, option) = match (&opts.image, opts.gpus) {
        (Some(image), _) => (format!("there are no images here to find `{image}` in"), "image"),
        (None, Some(_)) => ("there are no graphics processors in this sandbox".to_owned(), "gpus"),
        (None, None) => return Ok(()),
    };
    Err(Error::new(ErrorKind::Unsupported, "start", message)
        .with_remedy(Remedy::from(Change::leave_out(option)).or(Remedy::container())))
}

/// A name that is most likely unique among the runs of this machine.
pub fn new_run_id() -> RunId {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(count);
    RunId::new(format!("{:x}-{count:x}-{:08x}", std::process::id(), hasher.finish() as u32))
}
