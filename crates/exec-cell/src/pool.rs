//! Warm cells: made before they are needed, used once, never shared.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use exec_core::Result;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::cell::{Cell, Standing};
use crate::maker::CellMaker;
use crate::probe::FirstCell;
use crate::runs::Ending;

/// How many cells are kept warm, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolConfig {
    /// Cells kept per exact specification; 0 keeps none.
    pub per_spec: usize,
    /// Cells kept in total.
    pub total: usize,
    /// A cell that is idle for this long is ended.
    pub idle: Duration,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self { per_spec: 2, total: 8, idle: Duration::from_secs(300) }
    }
}

/// A cell that was warm for longer than this is pinged before use.
const PING_AFTER: Duration = Duration::from_secs(1);

/// A run that lasts longer than this does not delay the refill.
const REFILL_DELAY: Duration = Duration::from_millis(10);

/// A head start for the caller to learn the end of its run, before the next cell is made and the old one removed.
pub(crate) const CALLER_FIRST: Duration = Duration::from_millis(1);

/// A cell and the facts that hold in it.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) cell: Cell,
    pub(crate) standing: Standing,
}

#[derive(Debug)]
struct Idle {
    ready: Ready,
    since: Instant,
}

/// Warm cells by exact specification.
#[derive(Debug)]
pub(crate) struct Pool<M: CellMaker>(Arc<Inner<M>>);

#[derive(Debug)]
struct Inner<M: CellMaker> {
    maker: Arc<M>,
    backend: Arc<str>,
    config: PoolConfig,
    shelves: Mutex<Shelves<M::Spec>>,
    /// Callers that are waiting for a cell; refilling yields to them.
    waiting: AtomicUsize,
    nobody_waits: Notify,
    /// A cell was shelved, or could not be made.
    place_left: Notify,
}

#[derive(Debug)]
struct Shelves<S> {
    idle: HashMap<S, VecDeque<Idle>>,
    /// Cells being made for a shelf; they count against the bounds.
    filling: HashMap<S, usize>,
    swept: bool,
}

impl<M: CellMaker> Pool<M> {
    pub(crate) fn new(maker: Arc<M>, config: PoolConfig) -> Self {
        let backend = Arc::from(maker.name());
        let shelves = Mutex::new(Shelves { idle: HashMap::new(), filling: HashMap::new(), swept: false });
        Self(Arc::new(Inner {
            maker,
            backend,
            config,
            shelves,
            waiting: AtomicUsize::new(0),
            nobody_waits: Notify::new(),
            place_left: Notify::new(),
        }))
    }

    /// Returns a cell for this specification: a warm one if available, else a new one.
    pub(crate) async fn take(&self, spec: &M::Spec) -> Result<Ready> {
        match self.0.take_warm(spec).await {
            Some(ready) => Ok(ready),
            None => self.0.make_for_caller(spec).await,
        }
    }

    /// Reserves a place on the shelf for this specification, if one is free.
    pub(crate) fn reserve(&self, spec: &M::Spec) -> Option<Place<M>> {
        Inner::reserve(&self.0, spec)
    }

    /// Returns when the shelf for this specification is full, or the bounds allow no more.
    pub(crate) async fn warm(&self, spec: &M::Spec) -> Result<()> {
        loop {
            let changed = self.0.place_left.notified();
            if let Some(place) = Inner::reserve(&self.0, spec) {
                place.fill().await?;
            } else if self.0.lock().filling.get(spec).is_some_and(|filling| *filling > 0) {
                changed.await;
            } else {
                return Ok(());
            }
        }
    }
    /// Shelves a cell made elsewhere.
    pub(crate) fn keep(&self, first: FirstCell<M::Spec>) {
        let ready = self.0.standing(&first.spec, first.cell);
        self.0.shelve(&mut self.0.lock(), first.spec, ready);
    }

    /// The number of warm cells.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().idle.values().map(VecDeque::len).sum()
    }
}

impl<M: CellMaker> Inner<M> {
    fn lock(&self) -> MutexGuard<'_, Shelves<M::Spec>> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn take_warm(&self, spec: &M::Spec) -> Option<Ready> {
        loop {
            let idle = self.lock().idle.get_mut(spec)?.pop_back()?;
            let Idle { ready, since } = idle;
            if ready.cell.is_alive() && (since.elapsed() < PING_AFTER || ready.cell.ping().await) {
                return Some(ready);
            }
            tracing::debug!("a warm cell had died and is replaced");
        }
    }

    async fn make_for_caller(&self, spec: &M::Spec) -> Result<Ready> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let _leave = Leave(self);
        self.make(spec).await
    }

    async fn make(&self, spec: &M::Spec) -> Result<Ready> {
        let cell = Cell::connect(self.maker.make(spec).await?, &self.backend).await;
        let cell = cell.map_err(|error| self.maker.explain(error))?;
        Ok(self.standing(spec, cell))
    }

    fn standing(&self, spec: &M::Spec, cell: Cell) -> Ready {
        let isolation = Arc::new(self.maker.isolation(spec, &cell.facts));
        Ready { cell, standing: Standing { backend: Arc::clone(&self.backend), isolation } }
    }

    fn shelve(self: &Arc<Self>, shelves: &mut Shelves<M::Spec>, spec: M::Spec, ready: Ready) {
        shelves.idle.entry(spec).or_default().push_back(Idle { ready, since: Instant::now() });
        if !shelves.swept {
            shelves.swept = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Reserves a place on the shelf for one more cell, if the bounds allow it.
    fn reserve(this: &Arc<Self>, spec: &M::Spec) -> Option<Place<M>> {
        let mut shelves = this.lock();
        let ready = shelves.idle.get(spec).map_or(0, VecDeque::len);
        let filling = shelves.filling.get(spec).copied().unwrap_or(0);
        if ready + filling >= this.config.per_spec {
            return None;
        }
        let count =
            shelves.idle.values().map(VecDeque::len).sum::<usize>() + shelves.filling.values().sum::<usize>();
        if count >= this.config.total && !shelves.evict_oldest(spec) {
            return None;
        }
        *shelves.filling.entry(spec.clone()).or_default() += 1;
        Some(Place { pool: Arc::clone(this), spec: spec.clone() })
    }

    async fn until_nobody_waits(&self) {
        loop {
            let calm = self.nobody_waits.notified();
            if self.waiting.load(Ordering::Acquire) == 0 {
                return;
            }
            calm.await;
        }
    }
}

impl<S: Eq + Hash> Shelves<S> {
    /// Makes room by ending the cell that has waited longest for another specification.
    fn evict_oldest(&mut self, keep: &S) -> bool {
        let others = self.idle.iter_mut().filter(|(spec, shelf)| *spec != keep && !shelf.is_empty());
        let oldest = others.min_by_key(|(_, shelf)| shelf.front().map(|idle| idle.since));
        oldest.is_some_and(|(_, shelf)| shelf.pop_front().is_some())
    }
}

/// Dropping it uncounts a waiting caller, on every path.
struct Leave<'a, M: CellMaker>(&'a Inner<M>);

impl<M: CellMaker> Drop for Leave<'_, M> {
    fn drop(&mut self) {
        if self.0.waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.nobody_waits.notify_waiters();
        }
    }
}

/// A reserved place on a shelf; given back when dropped.
pub(crate) struct Place<M: CellMaker> {
    pool: Arc<Inner<M>>,
    spec: M::Spec,
}

impl<M: CellMaker> Place<M> {
    async fn fill(self) -> Result<()> {
        let ready = self.pool.make(&self.spec).await?;
        ready.cell.seat.expect_run();
        self.pool.shelve(&mut self.pool.lock(), self.spec.clone(), ready);
        Ok(())
    }

    /// Fills it when the run that took from the shelf has ended or lasted for a while: making a cell costs more than a
    /// short command, and must not slow it down.
    pub(crate) async fn refill_after(self, mut run: watch::Receiver<Ending>) {
        if timeout(REFILL_DELAY, run.wait_for(Option::is_some)).await.is_ok() {
            sleep(CALLER_FIRST).await;
        }
        self.pool.until_nobody_waits().await;
        if let Err(error) = self.fill().await {
            tracing::debug!(%error, "a cell could not be made ahead of need");
        }
    }
}

impl<M: CellMaker> Drop for Place<M> {
    fn drop(&mut self) {
        let mut shelves = self.pool.lock();
        if let Some(filling) = shelves.filling.get_mut(&self.spec) {
            *filling -= 1;
        }
        drop(shelves);
        self.pool.place_left.notify_waiters();
    }
}

/// Ends cells that were idle for too long; returns when no cell or no pool is left.
async fn sweep<M: CellMaker>(pool: Weak<Inner<M>>) {
    loop {
        let Some(idle) = pool.upgrade().map(|pool| pool.config.idle) else { return };
        sleep(idle.div_f32(2.0).max(Duration::from_millis(1))).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut shelves = pool.lock();
        for shelf in shelves.idle.values_mut() {
            shelf.retain(|cell| cell.since.elapsed() < idle);
        }
        shelves.idle.retain(|_, shelf| !shelf.is_empty());
        shelves.filling.retain(|_, count| *count > 0);
        if shelves.idle.is_empty() {
            shelves.swept = false;
            return;
        }
    }
}
