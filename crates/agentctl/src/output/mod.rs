//! Everything that this program writes: the command's output, the JSON object, and our own messages.

pub(crate) mod banner;
pub(crate) mod cleaned;
#[cfg(feature = "mcp")]
pub(crate) mod clients;
mod delivery;
pub(crate) mod doctor;
pub(crate) mod health;
mod image;
mod json;
mod line;
mod log;
pub(crate) mod messages;
pub(crate) mod ps;
mod spelling;
pub(crate) mod stopped;
mod table;
mod writer;

pub(crate) use delivery::{Delivered, Delivery, Format};
pub(crate) use image::image_progress;
pub(crate) use json::{error_object, to_line};
pub(crate) use line::{Line, Voice};
pub(crate) use log::start_log;
pub(crate) use spelling::{spell, spelled};
pub(crate) use table::table;
pub(crate) use writer::{Escapes, Treatment};

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use exec_core::printable;

/// Prints to standard output everything that is not a command's output: tables, reports, objects. A terminal
/// obeys nothing in it, wherever it goes: a file may be shown on a terminal later.
pub(crate) fn print(text: &str) -> io::Result<()> {
    writer::write_all(rustix::stdio::stdout(), printable::lines(text).as_bytes())
}

/// Prints an object for people.
pub(crate) fn print_json(value: &impl serde::Serialize) -> io::Result<()> {
    print(&format!("{}\n", json::pretty(value)?))
}

/// Whether the current line is temporary.
static TRANSIENT: AtomicBool = AtomicBool::new(false);

/// Returns to the beginning of the line and clears it.
const ERASE: &str = "\r\x1b[K";

/// Shows a temporary line on the terminal, which the next one replaces.
fn transient(text: &str) {
    TRANSIENT.store(true, Ordering::Relaxed);
    // A closed stream has no reader.
    let _ = write_stderr(&[ERASE, &printable::line(text)].concat());
}

/// Prints a message on standard error.
pub(crate) fn say(voice: Voice, line: &Line) {
    tell(&voice.render(line, SystemTime::now()));
}

/// Writes lines to standard error, without anything that a terminal would obey.
pub(crate) fn tell(text: &str) {
    let erase = if TRANSIENT.swap(false, Ordering::Relaxed) { ERASE } else { "" };
    // A closed stream has no reader.
    let _ = write_stderr(&[erase, &printable::lines(text), "\n"].concat());
}

fn write_stderr(text: &str) -> io::Result<()> {
    writer::write_all(rustix::stdio::stderr(), text.as_bytes())
}
