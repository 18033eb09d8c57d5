//! The log of the libraries, on standard error.

use std::io;

use exec_core::printable;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::tell;

/// Starts a log on standard error where one is wanted: setting it up costs more than a run.
pub(crate) fn start_log(verbose: bool) {
    if !verbose && std::env::var_os(EnvFilter::DEFAULT_ENV).is_none() {
        return;
    }
    let default = if verbose { "info" } else { "error" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(Events).init();
}

/// Gives every event a line of its own.
struct Events;

impl<'a> MakeWriter<'a> for Events {
    type Writer = Event;

    fn make_writer(&'a self) -> Event {
        Event
    }
}

/// An event is written in one piece, as one line: what it quotes can't begin another.
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
