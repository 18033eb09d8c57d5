//! The caller's side of a command in a container of its own.

use std::sync::Arc;

use async_trait::async_trait;
use bollard::container::AttachContainerResults;
use bytes::Bytes;
use exec_cell::start_error;
use exec_core::{
    Error, ErrorKind, Event, Isolation, Outcome, Plan, Result, RunHandle, Signal, Stdin, WindowSize,
};
use exec_watch::RunNote;
use exec_wire::Failed;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::Instant;

use super::attend::{Attendant, Order};
use super::input::Writer;
use super::output::{FirstWords, Forward, Meter, Window};
use crate::engine::Input;
use crate::keeper::ContainerKeeper;
use crate::yard::Yard;

/// What a command runs in.
#[derive(Debug)]
pub(super) struct Surroundings {
    pub(super) yard: Arc<Yard>,
    pub(super) name: String,
    pub(super) keeper: ContainerKeeper,
    pub(super) isolation: Isolation,
    pub(super) begun: Instant,
    pub(super) note: RunNote,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(super) enum Ending {
    Over(Box<Outcome>),
    /// The container ran, and the command did not.
    NotStarted(Failed),
    /// The container ended in a way that is no end of the command.
    Lost(String),
}

/// A command in a container of its own. The container is killed when this is dropped.
#[derive(Debug)]
pub(super) struct DirectRun {
    backend: String,
    plan: Plan,
    events: Mutex<mpsc::UnboundedReceiver<Event>>,
    window: Window,
    input: Option<Writer>,
    orders: mpsc::UnboundedSender<Order>,
    ending: watch::Receiver<Option<Ending>>,
}

impl DirectRun {
    /// Starts the tasks that see a container to its end that was just started.
    pub(super) fn attend(
        surroundings: Surroundings,
        streams: AttachContainerResults,
        mut plan: Plan,
        input: Input,
    ) -> Arc<Self> {
        let (event_sender, events) = mpsc::unbounded_channel();
        // Of the processes inside, the engine tells us of PID 1 only.
        event_sender.send(Event::Started { pid: 1 }).ok();
        let (orders, order_receiver) = mpsc::unbounded_channel();
        let (ending_sender, ending) = watch::channel(None);
        let (meter, window) =
            (Arc::new(Meter::new(plan.limits.output.map(exec_core::ByteSize::get))), Window::new());
        let (first_words, last_words) = FirstWords::new();
        let forward = Forward {
            meter: Arc::clone(&meter),
            window: window.clone(),
            events: event_sender.clone(),
            first_words: Some(first_words),
        };
        tokio::spawn(forward.run(streams.output));
        let given = std::mem::take(&mut plan.stdin);
        let (writer, writing) = (input == Input::Open).then(|| Writer::start(streams.input)).unzip();
        if let (Stdin::Bytes(bytes), Some(writer)) = (given, writer.clone()) {
            tokio::spawn(async move {
                writer.write(bytes).await;
                writer.close();
            });
        }
        let backend = surroundings.yard.engine.backend().to_owned();
        let (attendant, note) = Attendant::new(
            surroundings,
            &plan,
            (Arc::clone(&meter), window.clone()),
            event_sender,
            order_receiver,
        );
        tokio::spawn(async move {
            let ending = attendant.see_to_the_end(last_words).await;
            if let Some(writing) = writing {
                writing.abort();
            }
            // Nobody hears of an end that is not written down.
            match &ending {
                Ending::Over(outcome) => note.ended(outcome, meter.written()),
                Ending::NotStarted(_) => note.lost("its program could not be started"),
                Ending::Lost(why) => note.lost(why),
            }
            ending_sender.send_replace(Some(ending));
        });
        Arc::new(Self { backend, plan, events: Mutex::new(events), window, input: writer, orders, ending })
    }

    fn lost(&self, why: &str) -> Error {
        Error::new(ErrorKind::CellDied, "run", format!("the sandbox ended unexpectedly: {why}"))
            .with_backend(&self.backend)
    }

    fn order(&self, order: Order) {
        // Nobody to obey: the run is over.
        self.orders.send(order).ok();
    }
}

#[async_trait]
impl RunHandle for DirectRun {
    async fn next_event(&self) -> Option<Event> {
        let event = self.events.lock().await.recv().await;
        if let Some(Event::Output { bytes, .. }) = &event {
            self.window.empty(bytes);
        }
        event
    }

    async fn write_stdin(&self, bytes: Bytes) -> Result<()> {
        if let Some(input) = &self.input {
            input.write(bytes).await;
        }
        Ok(())
    }

    fn close_stdin(&self) {
        if let Some(input) = &self.input {
            input.close();
        }
    }

    fn signal(&self, signal: Signal) {
        self.order(Order::Signal(signal));
    }

    fn resize(&self, _: WindowSize) {}

    fn cancel(&self) {
        self.order(Order::Cancel);
    }

    fn kill(&self) {
        self.order(Order::Kill);
    }

    async fn wait(&self) -> Result<Outcome> {
        let mut ending = self.ending.clone();
        let known = ending.wait_for(Option::is_some).await.ok().and_then(|ending| ending.clone());
        match known {
            Some(Ending::Over(outcome)) => Ok(*outcome),
            Some(Ending::NotStarted(failed)) => Err(start_error(&self.plan, &failed, &self.backend)),
            Some(Ending::Lost(why)) => Err(self.lost(&why)),
            None => Err(self.lost("nobody watched it")),
        }
    }
}

impl Drop for DirectRun {
    fn drop(&mut self) {
        self.window.close();
    }
}
