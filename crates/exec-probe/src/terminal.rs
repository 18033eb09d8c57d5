//! Commands about the terminal.

use std::io::IsTerminal;

use crate::command::Args;
use crate::signals;
use crate::sys::{self, Result, STDOUT};

/// Prints which of the standard streams are terminals, and the size.
pub(crate) fn size(_: &Args<'_>) -> Result<()> {
    let streams =
        [std::io::stdin().is_terminal(), std::io::stdout().is_terminal(), std::io::stderr().is_terminal()];
    sys::say(&format!("terminals {streams:?}"))?;
    sys::say(&format!("size {}", current()?))
}

/// Prints the size, waits until it changes, prints it again.
pub(crate) fn watch(_: &Args<'_>) -> Result<()> {
    signals::block(&[libc::SIGWINCH]);
    sys::say(&format!("size {}", current()?))?;
    signals::wait_for(&[libc::SIGWINCH]);
    sys::say(&format!("now {}", current()?))
}

fn current() -> Result<String> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call writes one winsize.
    sys::check(unsafe { libc::ioctl(STDOUT, libc::TIOCGWINSZ, &raw mut size) })?;
    Ok(format!("{}x{}", size.ws_row, size.ws_col))
}
