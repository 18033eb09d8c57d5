//! The task that sees a container to its end: orders, limits of time and output, the kill, and the account of it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use exec_cell::{Keeper, PostMortem, RunLimits, judge};
use exec_core::{Event, Isolation, Outcome, Plan, Signal, Stream, Usage};
use exec_watch::RunNote;
use exec_wire::{Closed, EndReason, Exited};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use super::failure;
use super::output::{Meter, Window};
use super::run::{Ending, Surroundings};
use super::status::{self, Done};
use crate::engine::Life;
use crate::keeper::ContainerKeeper;

/// The streams of a container that has ended close at once; an engine that does not close them is not waited for.
const LAST_WORDS_LIMIT: Duration = Duration::from_secs(5);

/// An engine removes a container by itself when it has ended; one that does not is told to.
const REMOVAL_LIMIT: Duration = Duration::from_secs(5);

/// What the caller wants done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    Signal(Signal),
    Cancel,
    Kill,
}

/// Watches over one run.
#[derive(Debug)]
pub(super) struct Attendant {
    keeper: ContainerKeeper,
    backend: String,
    program: String,
    isolation: Isolation,
    limits: RunLimits,
    begun: Instant,
    wall: Option<Instant>,
    idle: Option<Duration>,
    grace: Duration,
    meter: Arc<Meter>,
    window: Window,
    events: mpsc::UnboundedSender<Event>,
    orders: mpsc::UnboundedReceiver<Order>,
    signals: mpsc::UnboundedSender<Signal>,
    reason: EndReason,
    kill_at: Option<Instant>,
    done: Done,
}

impl Attendant {
    pub(super) fn new(
        surroundings: Surroundings,
        plan: &Plan,
        output: (Arc<Meter>, Window),
        events: mpsc::UnboundedSender<Event>,
        orders: mpsc::UnboundedReceiver<Order>,
    ) -> (Self, RunNote) {
        let Surroundings { yard, name, keeper, isolation, begun, note } = surroundings;
        let (signals, mut to_send) = mpsc::unbounded_channel();
        let backend = yard.engine.backend().to_owned();
        // One after the other, without holding up whoever watches the clock.
        tokio::spawn(async move {
            while let Some(signal) = to_send.recv().await {
                if let Err(error) = yard.engine.signal(&name, signal).await {
                    tracing::warn!(%error, "sending a signal");
                }
            }
        });
        let attendant = Self {
            keeper,
            backend,
            program: plan.argv.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default(),
            isolation,
            limits: RunLimits::of(plan),
            begun,
            wall: plan.limits.timeout.and_then(|wall| Instant::now().checked_add(wall)),
            idle: plan.idle_timeout,
            grace: plan.grace,
            meter: output.0,
            window: output.1,
            events,
            orders,
            signals,
            reason: EndReason::Own,
            kill_at: None,
            done: Done::default(),
        };
        (attendant, note)
    }

    /// Returns when nothing of the container is left.
    pub(super) async fn see_to_the_end(mut self, last_words: oneshot::Receiver<Bytes>) -> Ending {
        let mut life = self.keeper.life();
        let mut listening = true;
        while life.borrow_and_update().exit_code.is_none() {
            let next_look = self.next_look();
            tokio::select! {
                changed = life.changed() => if changed.is_err() { break },
                () = self.keeper.gone() => break,
                order = self.orders.recv(), if listening => {
                    listening = order.is_some();
                    self.obey(order.unwrap_or(Order::Kill));
                }
                () = self.meter.too_much() => self.end(EndReason::OutputLimit),
                () = look_at(next_look) => self.look(),
            }
        }
        let Some(code) = life.borrow().exit_code else { return self.lost().await };
        let said = timeout(LAST_WORDS_LIMIT, last_words).await.ok().and_then(Result::ok).unwrap_or_default();
        if self.reason == EndReason::Own
            && let Some(failed) = failure::of_init(&said, &self.program, code)
        {
            self.removed().await;
            return Ending::NotStarted(failed);
        }
        if !said.is_empty() {
            self.events.send(Event::Output { stream: Stream::Stderr, bytes: said }).ok();
        }
        self.done.killed |= life.borrow().out_of_memory;
        let status = status::status(code, &self.done);
        self.events.send(Event::Exited(exec_cell::status(status))).ok();
        self.removed().await;
        let life = life.borrow().clone();
        self.account(&life, status)
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Signal(signal) if status::is_passed_on(signal) => {
                self.done.signals.insert(signal.number());
                self.signals.send(signal).ok();
            }
            Order::Signal(signal) => tracing::debug!(%signal, "no init program passes this on"),
            Order::Cancel => self.end(EndReason::Stopped),
            Order::Kill => {
                if self.reason == EndReason::Own {
                    self.reason = EndReason::Stopped;
                }
                self.kill();
            }
        }
    }

    /// Ends the run: politely, and after its grace by force.
    fn end(&mut self, reason: EndReason) {
        if self.reason != EndReason::Own {
            return;
        }
        self.reason = reason;
        if self.grace.is_zero() {
            self.kill();
        } else {
            self.obey(Order::Signal(Signal::TERM));
            self.kill_at = Instant::now().checked_add(self.grace);
        }
    }

    fn kill(&mut self) {
        self.kill_at = None;
        if !std::mem::replace(&mut self.done.killed, true) {
            self.window.widen();
        }
        self.keeper.kill();
    }

    /// When a limit of time may be reached.
    fn next_look(&self) -> Option<Instant> {
        if self.reason != EndReason::Own {
            return self.kill_at;
        }
        let silence = self.idle.and_then(|idle| self.meter.last().checked_add(idle));
        self.wall.into_iter().chain(silence).min()
    }

    fn look(&mut self) {
        let now = Instant::now();
        if self.kill_at.is_some_and(|at| at <= now) {
            self.kill();
        } else if self.wall.is_some_and(|wall| wall <= now) {
            self.end(EndReason::WallTime);
        } else if self.idle.is_some_and(|idle| self.meter.last() + idle <= now) {
            self.end(EndReason::IdleTime);
        }
    }

    async fn removed(&self) {
        if timeout(REMOVAL_LIMIT, self.keeper.gone()).await.is_err() {
            self.keeper.kill();
            self.keeper.gone().await;
        }
    }

    async fn lost(&self) -> Ending {
        self.removed().await;
        self.unexpected()
    }

    /// An end that is neither the command's nor ours.
    fn unexpected(&self) -> Ending {
        Ending::Lost(match self.keeper.post_mortem() {
            PostMortem::Found(why) => why,
            PostMortem::OutOfMemory => "its memory was used up".to_owned(),
            PostMortem::Unknown => "the engine did not say how its container ended".to_owned(),
        })
    }

    fn account(self, life: &Life, status: exec_wire::Status) -> Ending {
        if self.reason == EndReason::Own && (life.paused || status::is_of_others(status, &life.signals)) {
            return self.unexpected();
        }
        let reason = match self.reason {
            EndReason::Own if self.meter.is_too_much() => EndReason::OutputLimit,
            reason => reason,
        };
        let closed = Closed { oom_kills: life.out_of_memory.into(), ..Closed::default() };
        let (ended, status, limits_hit) = judge(Exited { reason, status }, &closed, &self.limits);
        Ending::Over(Box::new(Outcome {
            ended,
            status,
            duration: self.begun.elapsed(),
            usage: Usage::default(),
            executor: self.backend,
            selection: None,
            isolation: Arc::new(self.isolation),
            limits_hit,
            denials: Vec::new(),
            survivors: Vec::new(),
            reopened: None,
        }))
    }
}

async fn look_at(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}
