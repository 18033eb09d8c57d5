//! A cell made of a task and two in-memory streams, for counting cells and for behaviour that a real cell can't be
//! made to show.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use exec_cell::{CellExecutor, CellIo, CellMaker, Keeper, PoolConfig};
use exec_control::{Audit, StateDir, Watch};
use exec_core::{Capabilities, Isolation, IsolationLevel, OwnPlaces, Plan, Prepared, Result};
use exec_wire::{
    Closed, EndReason, Exited, Facts, FromCell, HEADER_LEN, Header, PROTOCOL_VERSION, ReadBack, Rlimit,
    Status, ToCell,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::watch;

type Script = Arc<dyn Fn(FakeCell) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Makes cells that follow a script.
pub(crate) struct FakeMaker {
    script: Script,
    capabilities: Capabilities,
    watch: Watch,
    _state: tempfile::TempDir,
    pub(crate) made: Arc<AtomicUsize>,
    pub(crate) alive: Arc<AtomicUsize>,
    /// Resolved plans: each one asks once which places are out of reach.
    pub(crate) resolved: Arc<AtomicUsize>,
    /// Plans adjusted while their workspace could not be a command's yet.
    pub(crate) adjusted_early: Arc<AtomicUsize>,
}

impl std::fmt::Debug for FakeMaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FakeMaker").field("made", &self.made).finish_non_exhaustive()
    }
}

/// An executor over cells that follow `script`, and the counts of cells made and alive.
pub(crate) fn executor<F>(
    pool: PoolConfig,
    script: impl Fn(FakeCell) -> F + Send + Sync + 'static,
) -> (CellExecutor<FakeMaker>, Arc<AtomicUsize>, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let maker = maker(script);
    let (made, alive) = (Arc::clone(&maker.made), Arc::clone(&maker.alive));
    (CellExecutor::new(maker, pool), made, alive)
}

pub(crate) fn maker<F>(script: impl Fn(FakeCell) -> F + Send + Sync + 'static) -> FakeMaker
where
    F: Future<Output = ()> + Send + 'static,
{
    let level = IsolationLevel::Namespaces;
    let state = tempfile::tempdir().unwrap();
    FakeMaker {
        watch: Watch::new(StateDir::at(state.path()), Audit::Off),
        _state: state,
        script: Arc::new(move |cell| Box::pin(script(cell))),
        capabilities: Capabilities {
            level,
            claims: BTreeSet::new(),
            tty: true,
            sessions: true,
            images: false,
            engine: None,
            exceptions: BTreeSet::new(),
        },
        made: Arc::default(),
        alive: Arc::default(),
        resolved: Arc::default(),
        adjusted_early: Arc::default(),
    }
}

#[async_trait]
impl CellMaker for FakeMaker {
    type Spec = (Option<u32>, Vec<PathBuf>);

    fn name(&self) -> &'static str {
        "fake"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn watch(&self) -> &Watch {
        &self.watch
    }

    fn spec(&self, plan: &Prepared) -> Result<Self::Spec> {
        Ok((plan.limits.pids, plan.mounts.iter().map(|mount| mount.target.clone()).collect()))
    }

    fn own_places(&self) -> &OwnPlaces {
        self.resolved.fetch_add(1, Ordering::SeqCst);
        self.watch.own_places()
    }

    async fn adjust(&self, plan: &mut Plan) -> Result<()> {
        let is_noted = exec_core::could_be_a_commands(&plan.workspace);
        self.adjusted_early.fetch_add(usize::from(!is_noted), Ordering::SeqCst);
        Ok(())
    }

    async fn make(&self, _: &Self::Spec) -> Result<CellIo> {
        self.made.fetch_add(1, Ordering::SeqCst);
        let seat = self.watch.expect("fake")?;
        let (host_reader, to_host) = tokio::io::duplex(1 << 20);
        let (from_host, host_writer) = tokio::io::duplex(1 << 20);
        let (gone_sender, gone) = watch::channel(false);
        let (script, alive) = (Arc::clone(&self.script), Arc::clone(&self.alive));
        alive.fetch_add(1, Ordering::SeqCst);
        let task = tokio::spawn(async move {
            script(FakeCell { from_host, to_host }).await;
        });
        let abort = task.abort_handle();
        tokio::spawn(async move {
            task.await.ok();
            alive.fetch_sub(1, Ordering::SeqCst);
            gone_sender.send_replace(true);
        });
        let keeper = FakeKeeper { abort, gone };
        let keeper = Box::new(keeper);
        Ok(CellIo { reader: Box::new(host_reader), writer: Box::new(host_writer), keeper, seat })
    }

    fn isolation(&self, _: &Self::Spec, facts: &Facts) -> Isolation {
        Isolation { uid: facts.uid, gid: facts.gid, ..Isolation::new(IsolationLevel::Namespaces) }
    }

    fn rlimits(&self, _: &Plan, _: &Facts) -> Vec<Rlimit> {
        Vec::new()
    }
}

#[derive(Debug)]
struct FakeKeeper {
    abort: tokio::task::AbortHandle,
    gone: watch::Receiver<bool>,
}

#[async_trait]
impl Keeper for FakeKeeper {
    fn kill(&self) {
        self.abort.abort();
    }

    async fn gone(&self) {
        self.gone.clone().wait_for(|gone| *gone).await.ok();
    }
}

/// The inside of a fake cell.
pub(crate) struct FakeCell {
    from_host: DuplexStream,
    to_host: DuplexStream,
}

/// The messages that a script receives.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    Start(u32),
    Stop(u32),
    Ping(u64),
    Other(u32),
}

impl FakeCell {
    /// The next frame; `None` when the host closed the stream.
    pub(crate) async fn hear(&mut self) -> Option<Heard> {
        let mut head = [0; HEADER_LEN];
        self.from_host.read_exact(&mut head).await.ok()?;
        let header = Header::parse(head).unwrap();
        let mut payload = vec![0; header.len as usize];
        self.from_host.read_exact(&mut payload).await.ok()?;
        Some(match ToCell::decode(&header, &payload).unwrap() {
            ToCell::Start(_) => Heard::Start(header.run),
            ToCell::Stop { .. } => Heard::Stop(header.run),
            ToCell::Ping(nonce) => Heard::Ping(nonce),
            _ => Heard::Other(header.run),
        })
    }

    pub(crate) async fn say(&mut self, run: u32, frame: FromCell<'_>) {
        let mut bytes = Vec::new();
        frame.encode(run, &mut bytes);
        self.say_bytes(&bytes).await;
    }

    pub(crate) async fn say_bytes(&mut self, bytes: &[u8]) {
        self.to_host.write_all(bytes).await.ok();
    }

    /// Answers the greeting.
    pub(crate) async fn become_ready(&mut self) {
        self.hear().await;
        self.say(0, FromCell::Ready(Box::new(facts(PROTOCOL_VERSION)))).await;
    }

    /// Waits for the next command and reports that it started.
    pub(crate) async fn start_one(&mut self) -> Option<u32> {
        loop {
            match self.hear().await? {
                Heard::Start(run) => {
                    self.say(run, FromCell::Started { pid: 2 }).await;
                    return Some(run);
                }
                Heard::Ping(nonce) => self.say(0, FromCell::Pong(nonce)).await,
                _ => {}
            }
        }
    }

    /// Ends a run in the proper order.
    pub(crate) async fn finish(&mut self, run: u32) {
        let exited = Exited { reason: EndReason::Own, status: Status::Code(0) };
        self.say(run, FromCell::Exited(exited)).await;
        self.say(run, FromCell::Closed(Closed::default())).await;
    }

    /// Stays until the host closes the stream.
    pub(crate) async fn linger(&mut self) {
        while self.hear().await.is_some() {}
    }
}

/// A cell that runs one command and waits for the end of the stream.
pub(crate) async fn obedient(mut cell: FakeCell) {
    cell.become_ready().await;
    while let Some(run) = cell.start_one().await {
        cell.finish(run).await;
    }
}

pub(crate) fn facts(version: u16) -> Facts {
    Facts {
        version,
        pid_namespace: true,
        uid: 0,
        gid: 0,
        capabilities: 0,
        no_new_privs: true,
        seccomp: true,
        landlock_abi: 0,
        inotify_instances: None,
        limits: ReadBack::default(),
        notes: Vec::new(),
    }
}

/// Waits until `count` is reached; the generous time limit only makes a hang a failure.
pub(crate) async fn until(counter: &AtomicUsize, count: usize) {
    let reached = async {
        while counter.load(Ordering::SeqCst) != count {
            tokio::task::yield_now().await;
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    let limit = std::time::Duration::from_secs(20);
    let result = tokio::time::timeout(limit, reached).await;
    assert!(result.is_ok(), "expected {count}, have {}", counter.load(Ordering::SeqCst));
}
