//! A terminal with `agentctl` in its foreground, as a user would have it.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Termios, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use super::{LOCAL, OUTER_LIMIT, Place, eventually, program, wait};

/// The initial size of the terminal.
pub(crate) const SIZE: (u16, u16) = (50, 132);

/// A terminal and the program that runs in it.
#[derive(Debug)]
pub(crate) struct Pty {
    keyboard: File,
    line: File,
    screen: Arc<Mutex<Vec<u8>>>,
    child: Child,
    before: Termios,
    _place: Place,
}

impl Pty {
    /// Starts `agentctl` as the leader of a session with this terminal.
    pub(crate) fn start(args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let line = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let (keyboard, line) = (File::from(master), File::from(line));
        resize(&keyboard, SIZE);
        let before = tcgetattr(&line).unwrap();
        let screen = Arc::default();
        watch(keyboard.try_clone().unwrap(), Arc::clone(&screen));
        let place = Place::new();
        // A terminal's user gets SIGHUP, even where these tests run under `nohup`.
        let child = Command::new("setsid")
            .args(["--ctty", "env", "--default-signal=HUP"])
            .arg(program())
            .args(args)
            .current_dir(place.path())
            .env("SHELL", "/bin/sh")
            .env(LOCAL.0, LOCAL.1)
            .env("TERM", "xterm-256color")
            .stdin(Stdio::from(line.try_clone().unwrap()))
            .stdout(Stdio::from(line.try_clone().unwrap()))
            .stderr(Stdio::from(line.try_clone().unwrap()))
            .spawn()
            .unwrap();
        Self { keyboard, line, screen, child, before, _place: place }
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Everything shown so far.
    pub(crate) fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Waits until this is shown.
    pub(crate) fn expect(&self, text: &str) {
        let shown = eventually(OUTER_LIMIT, || self.screen().contains(text));
        assert!(shown, "`{text}` should be on the screen:\n{}", self.screen());
    }

    /// Waits until a shell shows its prompt.
    pub(crate) fn expect_prompt(&self) {
        let prompted = eventually(OUTER_LIMIT, || self.screen().ends_with(['#', '$', ' ']));
        assert!(prompted, "there should be a prompt:\n{}", self.screen());
    }

    /// Changes the window's size.
    pub(crate) fn resize(&self, size: (u16, u16)) {
        resize(&self.keyboard, size);
    }

    /// Waits until keys go to the program one by one.
    pub(crate) fn expect_raw(&self) {
        let is_raw = || {
            let modes = tcgetattr(&self.line).unwrap().local_modes;
            !modes.intersects(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
        };
        assert!(eventually(OUTER_LIMIT, is_raw), "the terminal should be raw");
    }

    /// Sets the modes that a shell sets when one of its jobs was stopped.
    pub(crate) fn make_cooked(&self) {
        tcsetattr(&self.line, OptionalActions::Now, &self.before).unwrap();
    }

    /// The process in the foreground.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the end; the terminal must then be restored.
    pub(crate) fn code(&mut self) -> Option<i32> {
        let code = wait(&mut self.child).code();
        let (before, after) = (&self.before, tcgetattr(&self.line).unwrap());
        assert_eq!(format!("{after:?}"), format!("{before:?}"), "the terminal should be as it was");
        code
    }
}

fn resize(terminal: &File, (ws_row, ws_col): (u16, u16)) {
    let size = Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

fn watch(mut keyboard: File, screen: Arc<Mutex<Vec<u8>>>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count) = keyboard.read(&mut buffer) {
            screen.lock().unwrap().extend_from_slice(&buffer[..count]);
        }
    });
}
