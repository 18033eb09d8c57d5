//! The host's hold on a container: it notices when the container is gone, and removes it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use exec_cell::{Keeper, PostMortem};
use exec_control::Seat;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::cleanup::last_resort;
use crate::engine::{ContainerState, Engine, is_engine_gone};

/// How often the engine is polled while it sends no events.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// An engine that is gone may be about to restart; callers wait no longer than this.
const ABSENCE_LIMIT: Duration = Duration::from_secs(2);

/// A container whose creation was not confirmed may appear this long after the engine first reported it missing.
const LATE: Duration = Duration::from_secs(5);

/// The delay between attempts to remove a container that could not be removed in time.
const TRY_AGAIN: Duration = Duration::from_secs(3);

/// After this long, removal is left to the next process that uses this engine.
const GIVE_UP: Duration = Duration::from_secs(600);

/// The exit code of a killed process.
const KILLED: i64 = 137;

/// A hold on one container.
#[derive(Debug)]
pub(crate) struct ContainerKeeper {
    seat: Seat,
    made: Arc<OnceLock<Made>>,
    kill: Arc<Notify>,
    refused: Arc<Notify>,
    end: watch::Receiver<Option<End>>,
}

/// A container that was created.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) id: String,
    /// It is on our kernel: its processes can be found by its id, without the engine.
    pub(crate) same_kernel: bool,
}

/// How a container ended, as far as we know.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Gone(ContainerState),
    /// The engine does not confirm that it is gone.
    Unverified(Doubt),
}

/// Why it is unknown whether a container is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// The engine does not answer, or does not remove it.
    Stuck,
    /// The engine is gone.
    EngineGone,
}

impl ContainerKeeper {
    /// Watches a container that is about to be created, and calls `buried` when it is gone.
    pub(crate) fn watch(
        engine: &Engine,
        seat: Seat,
        state: watch::Receiver<ContainerState>,
        buried: impl FnOnce() + Send + 'static,
    ) -> Self {
        let (sender, end) = watch::channel(None);
        let kill = Arc::new(Notify::new());
        let refused = Arc::new(Notify::new());
        let made = Arc::new(OnceLock::new());
        let mut watcher = Watcher {
            engine: engine.clone(),
            name: seat.name().to_owned(),
            made: Arc::clone(&made),
            kill: Arc::clone(&kill),
            refused: Arc::clone(&refused),
            absent_since: None,
        };
        tokio::spawn(async move {
            let mut found = watcher.until_gone(state).await;
            if let End::Unverified(_) = found {
                // Callers are notified at once; the container may be removed after the engine's next start.
                sender.send_replace(Some(found.clone()));
                found = watcher.later(found).await;
            }
            if let End::Gone(_) = found {
                buried();
            }
            sender.send_if_modified(|known| known.is_none() && known.replace(found).is_none());
        });
        Self { seat, made, kill, refused, end }
    }

    /// The engine has confirmed the creation.
    pub(crate) fn is_made(&self, made: Made) {
        // Set once: the container stays the same.
        self.made.set(made).ok();
    }

    /// The engine has refused the creation: there is nothing to wait for and nothing to remove.
    pub(crate) fn is_refused(&self) {
        self.refused.notify_one();
    }

    /// Its place in the records.
    pub(crate) fn seat(&self) -> &Seat {
        &self.seat
    }

    /// The container's id, if it was created.
    pub(crate) fn id(&self) -> Option<String> {
        self.made.get().map(|made| made.id.clone())
    }
}

#[async_trait]
impl Keeper for ContainerKeeper {
    fn kill(&self) {
        self.kill.notify_one();
    }

    async fn gone(&self) {
        // An error means that the watching task is gone, and with it the runtime that could have waited.
        self.end.clone().wait_for(Option::is_some).await.ok();
    }

    fn post_mortem(&self) -> PostMortem {
        match &*self.end.borrow() {
            None => PostMortem::Unknown,
            Some(End::Unverified(Doubt::Stuck)) => PostMortem::Found(format!(
                "the engine did not confirm that its container {} is gone: see whether it hangs",
                self.seat.name()
            )),
            Some(End::Unverified(Doubt::EngineGone)) => PostMortem::Found(format!(
                "the engine is gone; its container {} is removed when there is one again",
                self.seat.name()
            )),
            Some(End::Gone(state)) => diagnose(state),
        }
    }
}

fn diagnose(state: &ContainerState) -> PostMortem {
    match state {
        ContainerState { paused: true, .. } => {
            PostMortem::Found("its container was paused from outside, and was ended for that".into())
        }
        ContainerState { exit_code: Some(KILLED), out_of_memory: true, .. } => PostMortem::OutOfMemory,
        ContainerState { exit_code: Some(KILLED), .. } => {
            PostMortem::Found("its container was killed or removed from outside".into())
        }
        ContainerState { exit_code: Some(code @ 1..), .. } => {
            PostMortem::Found(format!("its container exited with status {code}"))
        }
        _ => PostMortem::Unknown,
    }
}

struct Watcher {
    engine: Engine,
    name: String,
    made: Arc<OnceLock<Made>>,
    kill: Arc<Notify>,
    refused: Arc<Notify>,
    /// When the engine first reported the container missing, if its creation was not confirmed.
    absent_since: Option<Instant>,
}

impl Watcher {
    async fn until_gone(&mut self, mut state: watch::Receiver<ContainerState>) -> End {
        let mut deadline = None;
        let mut doubt = Doubt::Stuck;
        loop {
            let known = state.borrow_and_update().clone();
            if known.gone {
                return End::Gone(known);
            }
            if known.paused && deadline.is_none() {
                self.kill.notify_one();
            }
            // Poll once the container must go, and while no events arrive about a container that was created.
            let has_to_ask = deadline.is_some() || (known.unheard && self.made.get().is_some());
            tokio::select! {
                changed = state.changed() => if changed.is_err() {
                    sleep(ASK_AGAIN).await;
                    if self.look().await == Seen::Gone {
                        return End::Gone(known);
                    }
                },
                () = self.refused.notified() => return End::Gone(known),
                () = self.kill.notified(), if deadline.is_none() => {
                    deadline = Some(Instant::now() + self.engine.patience.remove);
                    self.remove(known.paused).await;
                }
                () = sleep(ASK_AGAIN), if has_to_ask => match self.look().await {
                    Seen::Gone => return End::Gone(known),
                    Seen::NoEngine if doubt == Doubt::Stuck => {
                        doubt = Doubt::EngineGone;
                        let limit = Instant::now() + ABSENCE_LIMIT;
                        deadline = deadline.map(|deadline| limit.min(deadline));
                    }
                    Seen::Unsure if deadline.is_some() => self.remove(known.paused).await,
                    Seen::NoEngine | Seen::Unsure => {}
                },
                () = expired(deadline) => {
                    tracing::warn!(container = self.name, "the engine did not remove a container in time");
                    return End::Unverified(doubt);
                }
            }
        }
    }

    /// Unpauses first: a paused process can't die.
    async fn remove(&self, paused: bool) {
        if paused && let Err(error) = self.engine.unpause(&self.name).await {
            tracing::debug!(%error, "unpausing");
        }
        if let Err(error) = self.engine.remove(&self.name).await {
            tracing::warn!(%error, "removing a container");
            self.kill_without_engine().await;
        }
    }

    /// Does without the engine what it failed to do, if the container is on our kernel.
    async fn kill_without_engine(&self) {
        if let Some(Made { id, same_kernel: true }) = self.made.get() {
            let id = id.clone();
            // Blocking: it reads all of `/proc`.
            tokio::task::spawn_blocking(move || last_resort::kill_processes_of(&id)).await.ok();
        }
    }

    /// Continues after the callers have stopped waiting: an engine that comes back still has its containers.
    async fn later(&mut self, unverified: End) -> End {
        let end = Instant::now() + GIVE_UP;
        while Instant::now() < end {
            sleep(TRY_AGAIN).await;
            self.remove(false).await;
            if self.look().await == Seen::Gone {
                return End::Gone(ContainerState::default());
            }
        }
        unverified
    }

    async fn look(&mut self) -> Seen {
        match self.engine.exists(&self.name).await {
            Ok(false) if self.made.get().is_some() => Seen::Gone,
            Ok(false) if self.absent_since.get_or_insert_with(Instant::now).elapsed() >= LATE => Seen::Gone,
            Err(error) if is_engine_gone(&error) => Seen::NoEngine,
            Ok(_) | Err(_) => Seen::Unsure,
        }
    }
}

/// The result of asking the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Gone,
    NoEngine,
    /// It exists, or the answer is inconclusive.
    Unsure,
}

async fn expired(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F6
    #[test]
    fn what_happened_is_said() {
        let found = |state: ContainerState| match diagnose(&state) {
            PostMortem::Found(text) => text,
            other => format!("{other:?}"),
        };
        let died = |code| ContainerState { exit_code: Some(code), gone: true, ..ContainerState::default() };
        assert!(found(died(137)).contains("from outside"));
        assert!(found(ContainerState { paused: true, ..died(137) }).contains("paused"));
        assert_eq!(found(ContainerState { out_of_memory: true, ..died(137) }), "OutOfMemory");
        assert!(found(died(127)).contains("127"));
        assert_eq!(found(died(0)), "Unknown");
    }
}
