//! Our own terminal: its size, and raw mode, which is undone on every exit path.

use std::io;
use std::sync::{Mutex, PoisonError};

use exec_core::WindowSize;
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// The terminal's modes before raw mode. Static, because a panic that aborts runs its hook and no destructor.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Size of the terminal we write to, or read from; none if unknown.
pub(crate) fn size() -> Option<WindowSize> {
    let size = tcgetwinsize(stdout()).or_else(|_| tcgetwinsize(stdin())).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some(WindowSize { rows: size.ws_row, cols: size.ws_col })
}

/// Every key goes to the command, until this is dropped.
#[derive(Debug)]
pub(crate) struct RawMode {
    raw: Termios,
}

impl RawMode {
    /// Makes the terminal at standard input raw.
    pub(crate) fn enter() -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        *lock() = Some(before);
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            previous(info);
        }));
        let guard = Self { raw };
        guard.reenter()?;
        Ok(guard)
    }

    /// Sets raw mode again after a stop, during which the shell has restored its own modes.
    pub(crate) fn reenter(&self) -> io::Result<()> {
        Ok(tcsetattr(stdin(), OptionalActions::Now, &self.raw)?)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    if let Some(before) = lock().take() {
        // A terminal that is gone needs no restoring.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
    }
}

fn lock() -> std::sync::MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}
