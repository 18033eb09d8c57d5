//! `agentctl top`: what runs, live.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use agent_exec::control::{Target, Warden};
use exec_core::{Error, ErrorKind, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::args::TopArgs;
use crate::top::{Action, Model, draw};

/// More often than this nobody reads it, and looking costs time.
const FASTEST: Duration = Duration::from_millis(100);

/// Shows it until somebody leaves.
pub(crate) async fn top(args: &TopArgs) -> Result<u8> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Error::new(ErrorKind::InvalidInput, "top", "this is no terminal")
            .with_remedy("use `agentctl ps` or `agentctl ps --json`"));
    }
    let mut terminal = ratatui::try_init().map_err(|error| broken("can't set up the terminal", error))?;
    let shown = show(&mut terminal, args.interval.max(FASTEST)).await;
    // The error that led here says more than one about the terminal.
    let _ = ratatui::try_restore();
    shown.map(|()| 0)
}

async fn show(terminal: &mut DefaultTerminal, interval: Duration) -> Result<()> {
    let warden = Warden::of_this_user();
    let mut model = Model::default();
    let mut next_look = Instant::now();
    loop {
        if Instant::now() >= next_look {
            model.update(&warden.look()?, warden.latched()?.is_some(), Instant::now());
            next_look = Instant::now() + interval;
        }
        let drawn = terminal.draw(|frame| draw(frame, &model));
        drawn.map_err(|error| broken("can't draw on the terminal", error))?;
        let wait = next_look.saturating_duration_since(Instant::now());
        let unreadable = |error| broken("can't read the keyboard", error);
        if !event::poll(wait).map_err(unreadable)? {
            continue;
        }
        let Event::Key(key) = event::read().map_err(unreadable)? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match model.key(key.code, key.modifiers) {
            Action::None => {}
            Action::Leave => return Ok(()),
            Action::Kill(name) => {
                let killed = warden.kill(&Target::Named(name.clone())).await;
                model.told(match killed {
                    Ok(report) if report.is_clean() => format!("{name} is gone"),
                    Ok(report) => format!("{name}: {} processes are still alive", report.survivors.len()),
                    Err(error) => error.to_string(),
                });
                next_look = Instant::now();
            }
        }
    }
}

fn broken(what: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "top", what).with_source(error)
}
