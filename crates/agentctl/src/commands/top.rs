//! `agentctl top`: running commands, live.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use agent_exec::control::{Controller, Target};
use exec_core::{Error, ErrorKind, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use tokio::sync::mpsc;
use tokio::time::sleep_until;

use super::run::listen;
use crate::args::TopArgs;
use crate::exit_code;
use crate::signals::Signals;
use crate::top::{Action, Model, draw};

/// A shorter interval is unreadable, and each refresh costs time.
const FASTEST: Duration = Duration::from_millis(100);

/// Shows the view until the user quits.
pub(crate) async fn top(args: &TopArgs) -> Result<u8> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Error::new(ErrorKind::InvalidInput, "top", "standard input or output is not a terminal")
            .with_remedy("use `agentctl ps` or `agentctl ps --json`"));
    }
    let mut signals = listen()?;
    let mut terminal = ratatui::try_init().map_err(|error| broken("can't set up the terminal", error))?;
    let shown = show(&mut terminal, &mut signals, args.interval.max(FASTEST)).await;
    // The error that led here matters more than one about the terminal.
    let _ = ratatui::try_restore();
    shown
}

async fn show(terminal: &mut DefaultTerminal, signals: &mut Signals, interval: Duration) -> Result<u8> {
    let controller = Controller::of_this_user();
    let mut events = events();
    let mut model = Model::default();
    let mut next_look = Instant::now();
    loop {
        if Instant::now() >= next_look {
            model.update(&controller.look()?, controller.latched()?.is_some(), Instant::now());
            next_look = Instant::now() + interval;
        }
        paint(terminal, &model)?;
        let event = tokio::select! {
            event = events.recv() => event,
            () = sleep_until(next_look.into()) => continue,
            _ = signals.stop_asked() => return Ok(exit_code::CANCELLED),
        };
        let Some(event) = event else { return Ok(0) };
        let Event::Key(key) = event.map_err(|error| broken("can't read the keyboard", error))? else {
            continue;
        };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match model.key(key.code, key.modifiers) {
            Action::None => {}
            Action::Look => next_look = Instant::now(),
            Action::Leave => return Ok(0),
            Action::Kill(name) => {
                model.show_message(&format!("killing {name} …"));
                paint(terminal, &model)?;
                model.show_message(&kill(&controller, name).await);
                next_look = Instant::now();
            }
        }
    }
}

/// Kills the run, and returns a message about the outcome.
async fn kill(controller: &Controller, name: String) -> String {
    match controller.kill(&Target::Named(name.clone())).await {
        Ok(report) if report.is_clean() => format!("{name} is gone"),
        Ok(_) => format!("{name} may still be alive: `agentctl kill {name}` names what is left"),
        Err(error) => error.to_string(),
    }
}

/// Keys and sizes, read by a thread that ends with this process: signals must arrive while it waits for a
/// key.
fn events() -> mpsc::Receiver<io::Result<Event>> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        loop {
            let event = event::read();
            let is_last = event.is_err();
            if sender.blocking_send(event).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

fn paint(terminal: &mut DefaultTerminal, model: &Model) -> Result<()> {
    let drawn = terminal.draw(|frame| draw(frame, model));
    drawn.map(drop).map_err(|error| broken("can't draw on the terminal", error))
}

fn broken(what: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "top", what).with_source(error)
}
