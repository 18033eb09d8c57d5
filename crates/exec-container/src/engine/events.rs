//! Follows our containers through the engine's events.
//!
//! There is one event stream per executor. While it is broken, waiting for a container's end asks the engine
//! instead.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bollard::models::EventMessage;
use bollard::query_parameters::EventsOptionsBuilder;
use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::Engine;
use crate::engine::dialect::Dialect;

/// The pause before a stream that ended is opened again.
const AGAIN: Duration = Duration::from_millis(200);

/// The state of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "what was heard so far; any may go with any other")]
pub(crate) struct ContainerState {
    /// The kernel killed a process in it for lack of memory.
    pub(crate) out_of_memory: bool,
    /// Its processes were paused.
    pub(crate) paused: bool,
    /// It exited with this code.
    pub(crate) exit_code: Option<i64>,
    /// It is removed.
    pub(crate) gone: bool,
    /// The event stream is broken at the moment.
    pub(crate) unheard: bool,
}

/// The containers being followed, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContainerStates {
    by_name: Arc<Mutex<HashMap<String, watch::Sender<ContainerState>>>>,
    /// Stops with the last clone.
    _listener: Option<Arc<Listener>>,
}

#[derive(Debug)]
struct Listener(AbortHandle);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ContainerStates {
    /// Follows the containers with this label. There must be none yet.
    pub(crate) fn follow(engine: &Engine, label: (&str, &str), dialect: &Dialect) -> Self {
        let states = Self::default();
        let (engine, label, listening) = (engine.clone(), format!("{}={}", label.0, label.1), states.clone());
        let beginning = now();
        // Such an engine would search for events that can't exist: the first container is created while it is being
        // asked.
        let mut since = (!dialect.rereads_events).then(|| beginning.clone());
        let task = tokio::spawn(async move {
            loop {
                let mut events = std::pin::pin!(engine.events(&label, since.as_deref()));
                while let Some(Ok(event)) = events.next().await {
                    listening.on_event(&event);
                }
                listening.nobody_tells();
                since = Some(beginning.clone());
                tokio::time::sleep(AGAIN).await;
            }
        });
        Self { _listener: Some(Arc::new(Listener(task.abort_handle()))), ..states }
    }

    /// Follows a container that is about to be created.
    pub(crate) fn expect(&self, name: &str) -> watch::Receiver<ContainerState> {
        let (sender, receiver) = watch::channel(ContainerState::default());
        self.lock().insert(name.to_owned(), sender);
        receiver
    }

    /// Notes that a container ran out of memory, as observed elsewhere.
    pub(crate) fn out_of_memory(&self, name: &str) {
        if let Some(state) = self.lock().get(name) {
            state.send_modify(|state| state.out_of_memory = true);
        }
    }

    /// Stops following a container.
    pub(crate) fn forget(&self, name: &str) {
        self.lock().remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<ContainerState>>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sent once: otherwise every reconnection attempt would restart the waiting of the receivers.
    fn nobody_tells(&self) {
        for state in self.lock().values() {
            state.send_if_modified(|state| !std::mem::replace(&mut state.unheard, true));
        }
    }

    fn on_event(&self, event: &EventMessage) {
        let Some(attributes) = event.actor.as_ref().and_then(|actor| actor.attributes.as_ref()) else {
            return;
        };
        let Some(name) = attributes.get("name") else { return };
        let states = self.lock();
        let Some(state) = states.get(name) else { return };
        let exit_code = attributes.get("exitCode").and_then(|code| code.parse().ok());
        state.send_modify(|state| {
            state.unheard = false;
            match event.action.as_deref() {
                Some("oom") => state.out_of_memory = true,
                Some("pause") => state.paused = true,
                Some("die") => state.exit_code = exit_code,
                // Docker's word and Podman's.
                Some("destroy" | "remove") => state.gone = true,
                _ => {}
            }
        });
    }
}

impl Engine {
    fn events(
        &self,
        label: &str,
        since: Option<&str>,
    ) -> impl futures_util::Stream<Item = Result<EventMessage, bollard::errors::Error>> + use<> {
        let all = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let filters = HashMap::from([
            ("type".to_owned(), all(&["container"])),
            ("label".to_owned(), all(&[label])),
            ("event".to_owned(), all(&["oom", "pause", "die", "died", "destroy", "remove"])),
        ]);
        let options = EventsOptionsBuilder::default().filters(&filters);
        let options = since.into_iter().fold(options, EventsOptionsBuilder::since);
        self.docker.events(Some(options.build()))
    }
}

/// The time from which events are replayed, so that none is missed while the stream is being set up.
fn now() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    elapsed.as_secs().saturating_sub(1).to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use bollard::models::EventActor;
    use rstest::rstest;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    use super::*;
    use crate::{Endpoint, Greeting, Patience, Product};

    /// The first lines of this many requests to an engine that breaks off every answer.
    async fn asked(product: Product, count: usize) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("e.sock");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::UnixListener::from_std(listener).unwrap();
        let greeting = Greeting { api: (1, 41), product, version: None, user: None, directory: None };
        let engine =
            Engine::connect(&Endpoint::Unix(path), &greeting, "sample", Patience::default()).unwrap();
        let _states = ContainerStates::follow(&engine, ("owner", "me"), &Dialect::of(product));
        let mut questions = Vec::new();
        while questions.len() < count {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut question = String::new();
            BufReader::new(&mut stream).read_line(&mut question).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            questions.push(question);
        }
        questions
    }

    /// R101: Podman reads its whole log to report past events, and a first container would wait for that. After a
    /// break it has to: an event may have been missed.
    #[rstest]
    #[case(Product::Docker, [true, true])]
    #[case(Product::Podman, [false, true])]
    #[tokio::test]
    async fn the_past_is_asked_for_where_there_is_one(#[case] product: Product, #[case] past: [bool; 2]) {
        let questions = asked(product, 2).await;
        assert!(questions.iter().all(|question| question.contains("/events?")), "{questions:?}");
        assert_eq!(questions.iter().map(|q| q.contains("since=")).collect::<Vec<_>>(), past, "{questions:?}");
    }

    fn event(name: &str, action: &str, exit_code: &str) -> EventMessage {
        let attributes = HashMap::from([
            ("name".to_owned(), name.to_owned()),
            ("exitCode".to_owned(), exit_code.to_owned()),
            ("signal".to_owned(), "9".to_owned()),
        ]);
        let actor = Some(EventActor { attributes: Some(attributes), ..EventActor::default() });
        EventMessage { action: Some(action.to_owned()), actor, ..EventMessage::default() }
    }

    /// F4: an engine that stays away is reported once.
    #[test]
    fn silence_is_told_once() {
        let states = ContainerStates::default();
        let mut state = states.expect("ours");
        states.nobody_tells();
        assert!(state.borrow_and_update().unheard);
        states.nobody_tells();
        assert!(!state.has_changed().unwrap());
    }

    #[test]
    fn a_life_is_told_to_who_asked() {
        let states = ContainerStates::default();
        let state = states.expect("ours");
        for (action, code) in [("oom", ""), ("die", "137"), ("destroy", ""), ("exec_start", "")] {
            states.on_event(&event("ours", action, code));
            states.on_event(&event("strangers", action, code));
        }
        let expected = ContainerState {
            out_of_memory: true,
            exit_code: Some(137),
            gone: true,
            ..ContainerState::default()
        };
        assert_eq!(*state.borrow(), expected);
        states.forget("ours");
        assert!(state.has_changed().is_err(), "receivers are no longer notified");
    }
}
