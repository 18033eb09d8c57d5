//! Everything that leaves this program: the command's output, the JSON object, and our own messages.

pub(crate) mod banner;
pub(crate) mod cleaned;
pub(crate) mod clients;
mod delivery;
pub(crate) mod doctor;
pub(crate) mod health;
mod image;
mod json;
mod line;
pub(crate) mod messages;
pub(crate) mod ps;
pub(crate) mod stopped;
mod table;
mod writer;

pub(crate) use delivery::{Delivered, Delivery, Format};
pub(crate) use image::image_progress;
pub(crate) use json::{error_object, to_line};
pub(crate) use line::{Line, Voice};
pub(crate) use table::table;
pub(crate) use writer::{Escapes, Treatment};

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use exec_tools::Sanitizer;

/// Words of a command as part of a line: what a terminal would obey is made visible.
pub(crate) fn visible(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    text.chars().map(shown).collect()
}

/// Prints to standard output, for help and JSON objects outside a run.
pub(crate) fn print(text: &str) -> io::Result<()> {
    writer::write_all(rustix::stdio::stdout(), text.as_bytes())
}

/// Prints an object as people read it.
pub(crate) fn print_json(value: &impl serde::Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    print(&format!("{text}\n"))
}

/// Whether the line that the cursor is in goes away again.
static TRANSIENT: AtomicBool = AtomicBool::new(false);

/// Back to the beginning of a line, and away with what it holds.
const ERASE: &[u8] = b"\r\x1b[K";

/// Shows a line on the terminal that the next one takes the place of.
fn transient(text: &str) {
    TRANSIENT.store(true, Ordering::Relaxed);
    // There is nobody left to tell.
    let _ = writer::write_all(rustix::stdio::stderr(), &[ERASE, text.as_bytes()].concat());
}

/// Says something on standard error. What it quotes may come from the command, so that a terminal gets it made
/// harmless.
pub(crate) fn say(voice: Voice, line: &Line) {
    let text = voice.render(line, SystemTime::now());
    let mut shown = Vec::new();
    if TRANSIENT.swap(false, Ordering::Relaxed) {
        shown.extend_from_slice(ERASE);
    }
    if io::stderr().is_terminal() {
        let mut sanitizer = Sanitizer::default();
        sanitizer.push(text.as_bytes(), &mut shown);
        sanitizer.finish(&mut shown);
    } else {
        shown.extend_from_slice(text.as_bytes());
    }
    shown.push(b'\n');
    // There is nobody left to tell.
    let _ = writer::write_all(rustix::stdio::stderr(), &shown);
}
