//! The log of the libraries, on standard error.

use std::io;

use exec_core::printable;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::tell;

/// What is logged, as in `exec_cell=debug,info`.
const VARIABLE: &str = "RUST_LOG";

/// Starts a log on standard error on request: setting it up costs more than a run.
pub(crate) fn start_log(verbose: bool) {
    let asked = std::env::var_os(VARIABLE);
    if !verbose && asked.is_none() {
        return;
    }
    let default = if verbose { LevelFilter::INFO } else { LevelFilter::ERROR };
    let asked = asked.and_then(|asked| asked.to_str()?.parse::<Targets>().ok());
    let filter = asked.unwrap_or_else(|| Targets::new().with_default(default));
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Events);
    tracing_subscriber::registry().with(lines).with(filter).init();
}

/// Gives every event its own line.
struct Events;

impl<'a> MakeWriter<'a> for Events {
    type Writer = Event;

    fn make_writer(&'a self) -> Event {
        Event
    }
}

/// An event is written in one piece, as one line: quoted text can't begin another.
struct Event;

impl io::Write for Event {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        tell(&printable::line(text.trim_end_matches('\n')));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
