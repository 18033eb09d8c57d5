//! The differences between engines that the tests know; the rest is the same for all.

use std::process::Command;

/// An engine by its names.
pub(crate) struct Engine {
    /// Of the sandbox, and of the engine's own program.
    pub(crate) name: &'static str,
    /// The variable with its address.
    pub(crate) host: &'static str,
    /// The variable with the other engine's address.
    pub(crate) other_host: &'static str,
    /// The option that selects the other engine.
    pub(crate) other_sandbox: &'static str,
    /// How the other engine identifies itself.
    pub(crate) greeting_of_the_other: &'static str,
}

pub(crate) const DOCKER: Engine = Engine {
    name: "docker",
    host: "DOCKER_HOST",
    other_host: "CONTAINER_HOST",
    other_sandbox: "--sandbox podman",
    greeting_of_the_other: "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nLibpod-Api-Version: 5.0.0\r\n\r\n",
};

pub(crate) const PODMAN: Engine = Engine {
    name: "podman",
    host: "CONTAINER_HOST",
    other_host: "DOCKER_HOST",
    other_sandbox: "--sandbox docker",
    greeting_of_the_other: "HTTP/1.1 200 OK\r\nApi-Version: 1.47\r\nServer: Docker/27.0 (linux)\r\n\r\n",
};

impl Engine {
    /// The options of a run on it.
    pub(crate) fn sandbox(&self) -> [&'static str; 2] {
        ["--sandbox", self.name]
    }

    /// Whether the engine works for this user.
    pub(crate) fn available(&self) -> Result<(), String> {
        match Command::new(self.name).arg("info").output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(format!("{} can't be run: {error}", self.name)),
        }
    }
}
