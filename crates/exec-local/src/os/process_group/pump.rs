//! The task that follows a process group to its end: output, limits, orders, and the final kill.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use exec_control::Written;
use exec_core::{Ended, Event, Isolation, LimitHit, LimitName, Outcome, Plan, Signal, Status, Stream, Usage};
use rustix::process::Pid;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep_until, timeout};

use crate::config::NAME;

const PIECE: usize = 64 * 1024;

/// The group is dead by then; processes that still hold the pipes have left it and are not waited for.
const DRAIN: Duration = Duration::from_millis(100);

/// A request of the caller.
#[derive(Debug)]
pub(super) enum Order {
    Signal(Signal),
    Cancel,
    Kill,
}

/// The limits at which the run is ended.
#[derive(Debug)]
pub(super) struct Limits {
    wall: Option<Duration>,
    idle: Option<Duration>,
    output: Option<u64>,
    grace: Duration,
}

impl Limits {
    pub(super) fn new(plan: &Plan) -> Self {
        let output = plan.limits.output.map(exec_core::ByteSize::get);
        Self { wall: plan.limits.timeout, idle: plan.idle_timeout, output, grace: plan.grace }
    }
}

/// How much was written, and when last.
#[derive(Debug)]
struct Meter {
    begun: Instant,
    bytes: AtomicU64,
    stderr_bytes: AtomicU64,
    last_ms: AtomicU64,
}

pub(super) async fn attend(
    mut child: Child,
    limits: Limits,
    isolation: Arc<Isolation>,
    events: mpsc::Sender<Event>,
    mut orders: mpsc::UnboundedReceiver<Order>,
    begun: Instant,
) -> (Outcome, Written) {
    let group = child.id().and_then(|id| Pid::from_raw(id as i32));
    let (bytes, stderr_bytes, last_ms) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let meter = Arc::new(Meter { begun, bytes, stderr_bytes, last_ms });
    let stdout = child.stdout.take().map(|out| forward(out, Stream::Stdout, &events, &meter, limits.output));
    let stderr = child.stderr.take().map(|err| forward(err, Stream::Stderr, &events, &meter, limits.output));
    let mut reason = None;
    let mut kill_at = None;
    let status = loop {
        let tick = next_tick(&limits, &meter, reason.is_some(), kill_at);
        tokio::select! {
            status = child.wait() => break status,
            order = orders.recv() => match order {
                Some(Order::Signal(signal)) => send(group, signal),
                Some(Order::Cancel) if reason.is_none() => {
                    reason = Some((Ended::Cancelled, None));
                    send(group, Signal::TERM);
                    kill_at = Some(Instant::now() + limits.grace);
                }
                Some(Order::Cancel) => {}
                Some(Order::Kill) | None => {
                    reason.get_or_insert((Ended::Cancelled, None));
                    send(group, Signal::KILL);
                }
            },
            () = sleep_until(tick.into()) => {
                if kill_at.is_some_and(|at| at <= Instant::now()) {
                    send(group, Signal::KILL);
                    kill_at = None;
                } else if reason.is_none() && let Some(hit) = exceeded(&limits, &meter) {
                    reason = Some(hit);
                    send(group, Signal::TERM);
                    kill_at = Some(Instant::now() + limits.grace);
                }
            }
        }
    };
    send(group, Signal::KILL);
    for forwarder in [stdout, stderr].into_iter().flatten() {
        let abort = forwarder.abort_handle();
        if timeout(DRAIN, forwarder).await.is_err() && !events.is_closed() {
            abort.abort();
        }
    }
    let status = status.map_or(Status::Code(1), own_status);
    events.try_send(Event::Exited(status)).ok();
    let own = if matches!(status, Status::Code(_)) { Ended::Exited } else { Ended::Signalled };
    let (ended, hit) = reason.unwrap_or((own, None));
    let outcome = Outcome {
        ended,
        status,
        duration: begun.elapsed(),
        usage: Usage::default(),
        executor: NAME.into(),
        selection: None,
        isolation,
        limits_hit: hit.map(|limit| LimitHit::new(limit, "it ran into a limit")).into_iter().collect(),
        denials: Vec::new(),
        survivors: Vec::new(),
        reopened: None,
    };
    (outcome, meter.written())
}

fn own_status(status: ExitStatus) -> Status {
    match (status.code(), status.signal().and_then(Signal::new)) {
        (_, Some(signal)) => Status::Signal(signal),
        (code, None) => Status::Code(code.unwrap_or(1)),
    }
}

fn send(group: Option<Pid>, signal: Signal) {
    let signal = rustix::process::Signal::from_named_raw(signal.number());
    if let (Some(group), Some(signal)) = (group, signal) {
        rustix::process::kill_process_group(group, signal).ok();
    }
}

/// When to check the limits again.
fn next_tick(limits: &Limits, meter: &Meter, ending: bool, kill_at: Option<Instant>) -> Instant {
    let far = Instant::now() + Duration::from_secs(3600);
    if ending {
        return kill_at.unwrap_or(far);
    }
    let wall = limits.wall.map(|wall| meter.begun + wall);
    let idle = limits.idle.map(|idle| meter.last() + idle);
    let output = limits.output.map(|_| Instant::now() + Duration::from_millis(10));
    [wall, idle, output].into_iter().flatten().min().unwrap_or(far)
}

fn exceeded(limits: &Limits, meter: &Meter) -> Option<(Ended, Option<LimitName>)> {
    let now = Instant::now();
    if limits.output.is_some_and(|most| meter.bytes.load(Ordering::Acquire) > most) {
        return Some((Ended::OutputLimit, Some(LimitName::Output)));
    }
    if limits.wall.is_some_and(|wall| now >= meter.begun + wall) {
        return Some((Ended::TimedOut, Some(LimitName::WallTime)));
    }
    let idle = limits.idle.is_some_and(|idle| now >= meter.last() + idle);
    idle.then_some((Ended::TimedOut, Some(LimitName::IdleTime)))
}

impl Meter {
    fn last(&self) -> Instant {
        self.begun + Duration::from_millis(self.last_ms.load(Ordering::Acquire))
    }

    fn written(&self) -> Written {
        let stderr = self.stderr_bytes.load(Ordering::Acquire);
        Written { stdout: self.bytes.load(Ordering::Acquire).saturating_sub(stderr), stderr }
    }

    /// Counts a piece and returns how much of it may be passed on.
    fn count(&self, stream: Stream, len: usize, most: Option<u64>) -> usize {
        if stream == Stream::Stderr {
            self.stderr_bytes.fetch_add(len as u64, Ordering::AcqRel);
        }
        self.last_ms.store(self.begun.elapsed().as_millis() as u64, Ordering::Release);
        let before = self.bytes.fetch_add(len as u64, Ordering::AcqRel);
        most.map_or(len, |most| len.min(most.saturating_sub(before) as usize))
    }
}

fn forward(
    mut from: impl AsyncRead + Send + Unpin + 'static,
    stream: Stream,
    events: &mpsc::Sender<Event>,
    meter: &Arc<Meter>,
    most: Option<u64>,
) -> JoinHandle<()> {
    let (events, meter) = (events.clone(), Arc::clone(meter));
    tokio::spawn(async move {
        let mut buffer = BytesMut::new();
        loop {
            buffer.reserve(PIECE);
            match from.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(len) => {
                    let allowed = meter.count(stream, len, most);
                    let bytes = buffer.split().freeze().slice(..allowed);
                    if allowed > 0 && events.send(Event::Output { stream, bytes }).await.is_err() {
                        return;
                    }
                }
            }
        }
    })
}
