//! The table of commands and the parsing of their arguments.

use std::ffi::OsString;
use std::str::FromStr;

use crate::sys::{self, Result, STDERR};
use crate::{attempt, facts, files, net, output, processes, resources, signals, terminal};

/// Exit code for a misuse of this program; no case expects it.
const MISUSE: i32 = 64;

type Command = fn(&Args<'_>) -> Result<()>;

const COMMANDS: &[(&str, Command)] = &[
    ("burn-cpu", resources::burn_cpu),
    ("cat", output::cat),
    ("connect", net::connect),
    ("daemon", processes::daemon),
    ("eat-memory", resources::eat_memory),
    ("echo-args", output::echo_args),
    ("env", facts::env),
    ("exit", processes::exit),
    ("fds", facts::fds),
    ("fill", files::fill),
    ("flood", output::flood),
    ("flood-forever", output::flood_forever),
    ("fork-bomb", processes::fork_bomb),
    ("hoard", resources::hoard),
    ("hold-pipe", processes::hold_pipe),
    ("ids", facts::ids),
    ("ignore-signals", signals::ignore),
    ("inotify", resources::inotify),
    ("interleave", output::interleave),
    ("kill", processes::kill),
    ("kill-parent", processes::kill_parent),
    ("link", files::link),
    ("may-write", files::may_write),
    ("memfd", files::memfd),
    ("nohup", processes::nohup),
    ("open-files", resources::open_files),
    ("pause", processes::pause),
    ("raise", signals::raise),
    ("read", files::read),
    ("readlink", files::readlink),
    ("signals", signals::masks),
    ("spawn-threads", resources::spawn_threads),
    ("status", facts::status),
    ("syscall", attempt::run),
    ("tick", output::tick),
    ("tty-size", terminal::size),
    ("tty-watch", terminal::watch),
    ("wait-signal", signals::wait),
    ("write", files::write),
    ("zombies", processes::zombies),
];

/// The words after a command's name.
pub(crate) struct Args<'a> {
    pub(crate) words: &'a [OsString],
}

impl Args<'_> {
    /// A required word.
    pub(crate) fn text(&self, index: usize) -> String {
        match self.words.get(index) {
            Some(word) => word.to_string_lossy().into_owned(),
            None => misuse(&format!("argument {} is missing", index + 1)),
        }
    }

    /// A required number.
    pub(crate) fn number<T: FromStr>(&self, index: usize) -> T {
        let text = self.text(index);
        text.parse().unwrap_or_else(|_| misuse(&format!("`{text}` is not a number")))
    }
}

/// Runs the command named by the first word; returns the exit code.
pub(crate) fn run(words: &[OsString]) -> i32 {
    let Some((name, rest)) = words.split_first() else { misuse("no command was given") };
    let Some((_, command)) = COMMANDS.iter().find(|(known, _)| name == known) else {
        misuse(&format!("unknown command {}", name.display()));
    };
    match command(&Args { words: rest }) {
        Ok(()) => 0,
        // The result of an attempt; if it can't be printed, the missing output shows that.
        Err(errno) => i32::from(sys::say(&format!("errno {}", errno.name())).is_err()),
    }
}

pub(crate) fn misuse(what: &str) -> ! {
    // If this can't be printed either, the exit code remains.
    let _ = sys::write_all(STDERR, format!("exec-probe: {what}\n").as_bytes());
    sys::exit(MISUSE)
}
