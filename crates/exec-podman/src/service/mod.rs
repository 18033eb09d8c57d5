//! A Podman service for one executor: on a socket that other users can't reach. It ends when we do, however we end.
//!
//! Podman's idle timeout for services is not used: it counts connections, and miscounts if one breaks at a bad
//! moment. Our service depends on a pipe of this process instead, which the reaper also holds until it has cleaned
//! up.

mod place;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use exec_container::{Answered, BoundService, Patience, Product, greet};
use exec_core::{Error, ErrorKind, NamespaceBan, Remedy, Result, SearchPath};
use tokio::time::{Instant, sleep};

use crate::{Endpoint, Facts, Here, NAME, filter, runtime};

/// The delay between two pings until it listens, which takes about fifty milliseconds.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// For its first container Podman allocates tens of megabytes that it soon releases, and frequent garbage collections
/// take time. With this value it holds at most five times what it needs.
const RARE_COLLECTION: (&str, &str) = ("GOGC", "400");

/// Variables that would make the `podman` CLI use another service, or act as one that systemd started.
const NOT_PASSED_ON: [&str; 6] = [
    "CONTAINER_HOST",
    "CONTAINER_CONNECTION",
    "CONTAINER_SSHKEY",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
];

/// Our containers have no health checks, whatever their images say; this keeps Podman from requesting them from
/// systemd.
const NO_HEALTH_CHECKS: (&str, &str) = ("DISABLE_HC_SYSTEMD", "true");

/// The most of its error output that is reported, in characters.
const SAID: usize = 2000;

/// Whether a service of our own listens, or listened, at this address.
pub(crate) fn is_of_our_own(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Unix(path) if place::is_ours(&Here, path))
}

/// Starts a service and waits until it answers.
pub(crate) async fn start(program: &Path, facts: &Facts, patience: Patience) -> Result<Answered> {
    let socket = place::socket(&Here)?;
    let unusable = |error: io::Error| failed("can't be started").with_source(error);
    let mut said = tempfile::tempfile().map_err(unusable)?;
    let heard = said.try_clone().map_err(unusable)?;
    let spawned =
        BoundService::spawn(program, &arguments(facts, &socket), |command| prepare(command, program, heard));
    let Some(mut service) = spawned.map_err(unusable)? else {
        return Err(failed("can't be started: nothing of this build could end it"));
    };
    tracing::debug!(socket = %socket.display(), "started a Podman service");
    let endpoint = Endpoint::Unix(socket);
    let filter = filter::narrowed(&Here);
    let deadline = Instant::now() + patience.make;
    loop {
        match greet(&endpoint, patience.greet).await {
            Ok(greeting) if greeting.product == Product::Podman => {
                let lifeline = Some(service.lifeline());
                return Ok(Answered { lifeline, filter, ..Answered::at(endpoint, greeting) });
            }
            other => tracing::trace!(?other, "the service does not listen yet"),
        }
        if service.has_ended().map_err(unusable)? {
            return Err(failed(&format!("ended at once: {}", last_words(&mut said))));
        }
        if Instant::now() > deadline {
            return Err(failed("does not answer").with_context("waited", format!("{:?}", patience.make)));
        }
        sleep(LOOK_AGAIN).await;
    }
}

fn arguments(facts: &Facts, socket: &Path) -> Vec<OsString> {
    let service = ["system", "service", "--time", "0"];
    let mut address = OsString::from("unix://");
    address.push(socket);
    let options = runtime::options(&Here, facts.cgroups).into_iter();
    options.chain(service).map(OsString::from).chain([address]).collect()
}

fn prepare(command: &mut Command, program: &Path, heard: File) {
    for name in NOT_PASSED_ON {
        command.env_remove(name);
    }
    command.env("PATH", SearchPath::here().of_service(program).as_os_str());
    command.env(NO_HEALTH_CHECKS.0, NO_HEALTH_CHECKS.1).stderr(heard);
    if std::env::var_os(RARE_COLLECTION.0).is_none() {
        command.env(RARE_COLLECTION.0, RARE_COLLECTION.1);
    }
}

/// The end of its error output, on one line.
fn last_words(said: &mut File) -> String {
    let mut text = String::new();
    // Output that can't be read is left out; the error still reports that the service ended.
    let _ = said.rewind().and_then(|()| said.read_to_string(&mut text));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skipped = words.chars().count().saturating_sub(SAID);
    words.chars().skip(skipped).collect()
}

fn failed(what: &str) -> Error {
    Error::new(ErrorKind::Unavailable, "start engine", format!("a Podman service of our own {what}"))
        .with_backend(NAME)
        .with_remedy(remedy(NamespaceBan::of_this_user()))
}

/// Rootless Podman starts with a user namespace. Where `AppArmor` restricts those, distributions exempt Podman.
fn remedy(ban: Option<NamespaceBan>) -> Remedy {
    match ban {
        Some(ban) if ban != NamespaceBan::AppArmor => {
            Remedy::host(format!("{} forbids namespaces: {}", ban.setting(), ban.fix()))
        }
        _ => Remedy::engine("see what `podman info` says")
            .or(Remedy::engine("say with CONTAINER_HOST where a service listens")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R65
    #[test]
    fn a_ban_on_namespaces_is_named() {
        let text = remedy(Some(NamespaceBan::NotForOrdinaryUsers)).to_string();
        assert!(text.contains("sudo sysctl -w kernel.unprivileged_userns_clone=1"), "{text}");
        assert_eq!(remedy(None), remedy(Some(NamespaceBan::AppArmor)));
    }
}
