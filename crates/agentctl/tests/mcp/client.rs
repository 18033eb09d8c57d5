//! Starts the client, which starts the server.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{LOCAL, Marker, Place, program};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/client.py");

/// Modes of the protocol: with and without a handshake.
pub(crate) const MODES: [&str; 2] = ["auto", "legacy"];

/// The client's Python, which `cargo xtask engines` installs below the target directory.
fn python() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    own.ancestors().map(|dir| dir.join("mcp-client/bin/python")).find(|python| python.exists())
}

/// Whether a client is installed.
pub(crate) fn available() -> Result<(), String> {
    python().map(drop).ok_or_else(|| "no MCP client; `cargo xtask engines` installs one".to_owned())
}

/// A running client. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The parameters of a scenario.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) scenario: &'a str,
    pub(crate) mode: &'a str,
    pub(crate) sandbox: &'a str,
    pub(crate) markers: Option<(&'a Marker, &'a Marker)>,
    /// More options of the server.
    pub(crate) options: &'a [&'a str],
    /// Address and token of a running server.
    pub(crate) server: Option<(&'a str, &'a str)>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(scenario: &'a str, mode: &'a str, sandbox: &'a str) -> Self {
        Self { scenario, mode, sandbox, markers: None, options: &[], server: None }
    }
}

impl Client {
    pub(crate) fn start(place: &Place, scene: Scene<'_>) -> Result<Self> {
        let python = python().context("no MCP client")?;
        std::fs::create_dir_all(place.path().join("sub"))?;
        let mut command = Command::new(python);
        command.arg(SCRIPT).args([scene.scenario, scene.mode]).arg(program());
        command.args(["mcp", "--quiet", "--sandbox", scene.sandbox, "--timeout", "60s"]).args(scene.options);
        command.current_dir(place.path()).env("SANDBOX", scene.sandbox).env_remove(LOCAL.0);
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env(name, place.user());
        }
        if let Some((marker, other)) = scene.markers {
            command.env("MARKER", marker.to_string()).env("OTHER", other.to_string());
        }
        if let Some((url, token)) = scene.server {
            command.env("URL", url).env("TOKEN", token);
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, input, output })
    }

    /// Waits for its message.
    pub(crate) fn expect(&mut self, word: &str) -> Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.trim_end() != word {
            bail!("{word:?} was expected, not {line:?}: {}", self.complaint());
        }
        Ok(())
    }

    /// Lets it continue.
    pub(crate) fn go(&mut self) -> Result<()> {
        Ok(self.input.write_all(b"go\n")?)
    }

    pub(crate) fn kill(&mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::KILL)?;
        self.child.wait()?;
        Ok(())
    }

    /// Waits for its end, which must be a success.
    pub(crate) fn finish(mut self) -> Result<()> {
        let complaint = self.complaint();
        let status = self.child.wait()?;
        ensure!(status.success(), "{status}: {complaint}");
        Ok(())
    }

    fn complaint(&mut self) -> String {
        let mut complaint = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.read_to_string(&mut complaint);
        }
        complaint
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A scenario from beginning to end.
pub(crate) fn play(place: &Place, scene: Scene<'_>) -> Result<()> {
    let whole = format!("{} in mode {} on {}", scene.scenario, scene.mode, scene.sandbox);
    Client::start(place, scene)?.finish().context(whole)
}
