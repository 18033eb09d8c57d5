//! The errors a user reads, case by case.

use std::io;

use super::*;
use crate::runtime::Cgroups;
use crate::{Candidate, Failure};

fn attempt(endpoint: &str, origin: Origin, failure: Failure) -> Vec<Attempt> {
    vec![Attempt { candidate: Candidate { endpoint: endpoint.parse().unwrap(), origin }, failure }]
}

fn no_connection(kind: io::ErrorKind) -> Failure {
    Failure::Connect(kind.into())
}

fn named(failure: Failure) -> Vec<Attempt> {
    attempt("unix:///run/other.sock", Origin::ContainerHost, failure)
}

fn usual(failure: Failure) -> Vec<Attempt> {
    attempt("unix:///run/user/1000/podman/podman.sock", Origin::Rootless, failure)
}

fn facts(system: System, program: Option<&str>) -> Facts {
    Facts { system, program: program.map(Into::into), cgroups: Cgroups::Plain }
}

fn said(attempts: Vec<Attempt>, facts: &Facts) -> String {
    let error = diagnose(attempts, facts);
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    format!("{error}\n-> {}", error.remedy().map_or_else(|| "nothing".to_owned(), ToString::to_string))
}

/// R60
#[test]
fn no_podman_at_all() {
    let missing = || usual(no_connection(io::ErrorKind::NotFound));
    insta::assert_snapshot!(said(missing(), &facts(System::Linux, None)), @r"
    podman: Podman was not found here (at: unix:///run/user/1000/podman/podman.sock, from: rootless Podman)
    -> install Podman (`sudo apt-get install podman`, `sudo dnf install podman`, https://podman.io/docs/installation), or set the option `executor` for another sandbox
    ");
    insta::assert_snapshot!(said(missing(), &facts(System::MacOs, Some("/opt/podman"))), @r"
    podman: no Podman service is running (at: unix:///run/user/1000/podman/podman.sock, from: rootless Podman)
    -> start the machine with `podman machine start` (`podman machine init` makes one)
    ");
    insta::assert_snapshot!(said(Vec::new(), &facts(System::MacOs, None)), @r"
    podman: Podman was not found here
    -> install Podman (https://podman.io/docs/installation), then `podman machine init` and `podman machine start`
    ");
}

/// R60
#[test]
fn a_service_that_was_named() {
    let linux = facts(System::Linux, Some("/usr/bin/podman"));
    insta::assert_snapshot!(said(named(no_connection(io::ErrorKind::NotFound)), &linux), @r"
    podman: the socket of the Podman service does not exist (at: unix:///run/other.sock, from: CONTAINER_HOST)
    -> start it with `podman system service --time 0 unix:///run/other.sock`, or correct or unset CONTAINER_HOST
    ");
    insta::assert_snapshot!(said(named(Failure::Another), &linux), @r"
    podman: it is Docker that answers, not Podman (at: unix:///run/other.sock, from: CONTAINER_HOST)
    -> set the option `executor` to `docker` to use Docker as such, or correct or unset CONTAINER_HOST
    ");
    insta::assert_snapshot!(said(named(Failure::NotAnEngine), &linux), @r"
    podman: the answer is not from a Podman service (at: unix:///run/other.sock, from: CONTAINER_HOST)
    -> check what listens there, or correct or unset CONTAINER_HOST
    ");
    insta::assert_snapshot!(said(named(no_connection(io::ErrorKind::PermissionDenied)), &linux), @r"
    podman: this user may not use the Podman service (at: unix:///run/other.sock, from: CONTAINER_HOST)
    -> use your own: Podman needs no rights for that, or correct or unset CONTAINER_HOST
    ");
    let connection = Origin::Connection("vm".to_owned());
    insta::assert_snapshot!(said(attempt("tcp://10.0.0.7:80", connection, no_connection(io::ErrorKind::HostUnreachable)), &linux), @r"
    podman: the Podman service can't be reached (at: tcp://10.0.0.7:80, from: connection `vm`): host unreachable
    -> check that it can be reached from here, or correct or unset CONTAINER_CONNECTION
    ");
}

#[test]
fn a_service_that_hangs() {
    let linux = facts(System::Linux, Some("/usr/bin/podman"));
    insta::assert_snapshot!(said(usual(Failure::TimedOut), &linux), @r"
    podman: the Podman service does not answer in time (at: unix:///run/user/1000/podman/podman.sock, from: rootless Podman)
    -> restart it with `systemctl --user restart podman.socket podman.service`, or say with CONTAINER_HOST where the service is
    ");
}
