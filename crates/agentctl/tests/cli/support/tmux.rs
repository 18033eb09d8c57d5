//! A terminal whose screen can be read: the picture on it, not the bytes sent to it.

use std::path::PathBuf;
use std::process::{Command, Output};

use super::{OUTER_LIMIT, Place, eventually};

/// A `tmux` terminal with its own server.
#[derive(Debug)]
pub(crate) struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// A shell that runs this in a terminal of this size, columns first. `None` if tmux is missing, for the
    /// caller to report; an error where everything must be tested.
    pub(crate) fn start(place: &Place, (columns, lines): (u16, u16), script: &str) -> Option<Self> {
        let terminal = Self { socket: place.user().join("tmux") };
        if Command::new("tmux").arg("-V").output().is_err() {
            let must = std::env::var_os("EXEC_TEST_REQUIRE").is_some();
            assert!(!must, "tmux is missing, and EXEC_TEST_REQUIRE allows no gaps");
            return None;
        }
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let mut command = terminal.command();
        command.args(["new-session", "-d", "-x", &columns, "-y", &lines, "sh", "-c", script]);
        succeeded(&place.at_home(&mut command).output().unwrap());
        Some(terminal)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8").args(["-u", "-f", "/dev/null", "-S"]);
        command.arg(&self.socket);
        command
    }

    fn tell(&self, args: &[&str]) -> String {
        let output = self.command().args(args).output().unwrap();
        succeeded(&output);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Presses keys, by tmux's names for them.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tell(&[&["send-keys"], keys].concat());
    }

    /// Changes the window's size, columns first.
    pub(crate) fn resize(&self, (columns, lines): (u16, u16)) {
        self.tell(&["resize-window", "-x", &columns.to_string(), "-y", &lines.to_string()]);
    }

    /// The lines on the screen now.
    pub(crate) fn screen(&self) -> Vec<String> {
        self.tell(&["capture-pane", "-p"]).lines().map(str::to_owned).collect()
    }

    /// Waits until the screen meets the condition, and returns it.
    pub(crate) fn expect(&self, what: &str, is_so: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mut screen = Vec::new();
        let shown = eventually(OUTER_LIMIT, || {
            screen = self.screen();
            is_so(&screen)
        });
        assert!(shown, "{what}:\n{}", screen.join("\n"));
        screen
    }

    /// Waits until a line has all of these parts, and returns that line.
    pub(crate) fn expect_line(&self, parts: &[&str]) -> String {
        let has = |line: &&String| parts.iter().all(|part| line.contains(part));
        let screen = self.expect(&format!("there should be a line with {parts:?}"), |screen| {
            screen.iter().any(|line| has(&line))
        });
        screen.iter().find(has).cloned().unwrap_or_default()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // It may have ended with its program.
        let _ = self.command().arg("kill-server").output();
    }
}

fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
