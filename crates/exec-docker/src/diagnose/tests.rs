//! The errors a user reads, case by case.

use std::io;
use std::io::ErrorKind::{
    ConnectionRefused, ConnectionReset, HostUnreachable, NotADirectory, NotFound, PermissionDenied,
    UnexpectedEof, WouldBlock,
};

use rstest::rstest;

use super::*;
use crate::Failure;

fn attempt(endpoint: &str, origin: Origin, failure: Failure) -> Attempt {
    Attempt { candidate: Candidate { endpoint: endpoint.parse().unwrap(), origin }, failure }
}

fn no_connection(kind: io::ErrorKind) -> Failure {
    Failure::Connect(kind.into())
}

fn at_the_default(failure: Failure) -> Vec<Attempt> {
    vec![attempt("unix:///var/run/docker.sock", Origin::Default, failure)]
}

fn at_docker_host(failure: Failure) -> Vec<Attempt> {
    vec![attempt("tcp://10.0.0.7:2375", Origin::DockerHost, failure)]
}

fn in_context(failure: Failure) -> Vec<Attempt> {
    vec![attempt("unix:///run/remote.sock", Origin::Context("remote".to_owned()), failure)]
}

/// A Linux host with Docker installed, and a user without access to it.
fn linux() -> Facts {
    Facts { system: System::Linux, program: Some("/usr/bin/docker".into()), group: DockerGroup::Stranger }
}

fn on(system: System) -> Facts {
    Facts { system, group: DockerGroup::Absent, ..linux() }
}

fn bare(system: System) -> Facts {
    Facts { program: None, ..on(system) }
}

fn said(attempts: Vec<Attempt>, facts: &Facts) -> String {
    let error = diagnose(attempts, facts);
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    format!("{error}\n-> {}", error.remedy().map_or_else(|| "nothing".to_owned(), ToString::to_string))
}

#[test]
fn no_socket() {
    let missing = || at_the_default(no_connection(NotFound));
    insta::assert_snapshot!(said(missing(), &linux()), @r"
    docker: the Docker engine is not running (at: unix:///var/run/docker.sock, from: Docker's default)
    -> start it with `sudo systemctl start docker`, or your own with `systemctl --user start docker`
    ");
    insta::assert_snapshot!(said(missing(), &bare(System::Linux)), @r"
    docker: Docker was not found here (at: unix:///var/run/docker.sock, from: Docker's default)
    -> install Docker (https://docs.docker.com/engine/install/), or set the option `executor` for another sandbox
    ");
    insta::assert_snapshot!(said(missing(), &on(System::MacOs)), @r"
    docker: the Docker engine is not running (at: unix:///var/run/docker.sock, from: Docker's default)
    -> open Docker Desktop and wait until it says that the engine is running
    ");
    insta::assert_snapshot!(said(missing(), &bare(System::MacOs)), @r"
    docker: Docker was not found here (at: unix:///var/run/docker.sock, from: Docker's default)
    -> install Docker Desktop (https://docs.docker.com/get-started/get-docker/) and open it
    ");
    insta::assert_snapshot!(said(in_context(no_connection(NotFound)), &linux()), @r"
    docker: the socket of the Docker engine does not exist (at: unix:///run/remote.sock, from: context `remote`)
    -> start the engine that should be there, or choose another context with `docker context use`
    ");
}

#[test]
fn not_allowed() {
    let denied = || at_the_default(no_connection(PermissionDenied));
    let as_a = |group| Facts { group, ..linux() };
    insta::assert_snapshot!(said(denied(), &as_a(DockerGroup::Stranger)), @r"
    docker: this user may not use the Docker engine (at: unix:///var/run/docker.sock, from: Docker's default)
    -> set up your own engine with `dockerd-rootless-setuptool.sh install`, or join the group that may use this one with `sudo usermod -aG docker $USER` and log in again (its members are as good as root)
    ");
    insta::assert_snapshot!(said(denied(), &as_a(DockerGroup::NextSession)), @r"
    docker: this user may not use the Docker engine (at: unix:///var/run/docker.sock, from: Docker's default)
    -> log in again, or run `newgrp docker`: this session began before you joined the group `docker`
    ");
    insta::assert_snapshot!(said(denied(), &as_a(DockerGroup::Absent)), @r"
    docker: this user may not use the Docker engine (at: unix:///var/run/docker.sock, from: Docker's default)
    -> set up your own engine with `dockerd-rootless-setuptool.sh install`, or ask the administrator of this one for access
    ");
    insta::assert_snapshot!(said(denied(), &as_a(DockerGroup::Member)), @r"
    docker: this user may not use the Docker engine (at: unix:///var/run/docker.sock, from: Docker's default)
    -> check with `ls -l` which group the socket belongs to, or say with DOCKER_HOST where the engine is
    ");
    insta::assert_snapshot!(said(denied(), &on(System::MacOs)), @r"
    docker: this user may not use the Docker engine (at: unix:///var/run/docker.sock, from: Docker's default)
    -> open Docker Desktop as the user who runs this, or say with DOCKER_HOST where the engine is
    ");
}

#[test]
fn nobody_listens() {
    let refused = || no_connection(ConnectionRefused);
    insta::assert_snapshot!(said(at_the_default(refused()), &linux()), @r"
    docker: nothing listens where the Docker engine should be (at: unix:///var/run/docker.sock, from: Docker's default)
    -> start it with `sudo systemctl start docker`, or your own with `systemctl --user start docker`
    ");
    insta::assert_snapshot!(said(at_docker_host(refused()), &linux()), @r"
    docker: nothing listens where the Docker engine should be (at: tcp://10.0.0.7:2375, from: DOCKER_HOST)
    -> start the engine that should be there, or correct or unset DOCKER_HOST
    ");
    let rootless = attempt("unix:///run/user/1000/docker.sock", Origin::Rootless, refused());
    insta::assert_snapshot!(said(vec![rootless], &linux()), @r"
    docker: nothing listens where the Docker engine should be (at: unix:///run/user/1000/docker.sock, from: rootless Docker)
    -> start it with `systemctl --user start docker`
    ");
}

#[test]
fn no_answer() {
    insta::assert_snapshot!(said(at_the_default(Failure::TimedOut), &linux()), @r"
    docker: the Docker engine does not answer in time (at: unix:///var/run/docker.sock, from: Docker's default)
    -> see what it is doing with `sudo journalctl -u docker`; `sudo systemctl restart docker` starts it anew
    ");
    insta::assert_snapshot!(said(at_the_default(Failure::TimedOut), &on(System::MacOs)), @r"
    docker: the Docker engine does not answer in time (at: unix:///var/run/docker.sock, from: Docker's default)
    -> restart Docker Desktop
    ");
    insta::assert_snapshot!(said(at_docker_host(Failure::TimedOut), &linux()), @r"
    docker: the Docker engine does not answer in time (at: tcp://10.0.0.7:2375, from: DOCKER_HOST)
    -> check that the engine is well and can be reached from here, or correct or unset DOCKER_HOST
    ");
}

#[test]
fn something_else_answers() {
    insta::assert_snapshot!(said(at_the_default(Failure::Another), &linux()), @r"
    docker: it is Podman that answers, not Docker (at: unix:///var/run/docker.sock, from: Docker's default)
    -> set the option `executor` to `podman` to use Podman as such, or say with DOCKER_HOST where the engine is
    ");
    insta::assert_snapshot!(said(at_the_default(Failure::NotAnEngine), &linux()), @r"
    docker: the answer is not from a Docker engine (at: unix:///var/run/docker.sock, from: Docker's default)
    -> check what listens there, or say with DOCKER_HOST where the engine is
    ");
    insta::assert_snapshot!(said(at_docker_host(Failure::NotAnEngine), &linux()), @r"
    docker: the answer is not from a Docker engine (at: tcp://10.0.0.7:2375, from: DOCKER_HOST)
    -> take a port that speaks plain HTTP (TLS, mostly port 2376, is not built in; `ssh -L` can forward the socket), or correct or unset DOCKER_HOST
    ");
}

#[test]
fn anything_else_says_what_the_system_said() {
    insta::assert_snapshot!(said(at_docker_host(no_connection(HostUnreachable)), &linux()), @r"
    docker: the Docker engine can't be reached (at: tcp://10.0.0.7:2375, from: DOCKER_HOST): host unreachable
    -> check that it can be reached from here, or correct or unset DOCKER_HOST
    ");
}

#[test]
fn the_most_telling_attempt_is_told() {
    let rootless = |failure| attempt("unix:///run/user/1000/docker.sock", Origin::Rootless, failure);
    let mut attempts = at_the_default(no_connection(PermissionDenied));
    attempts.push(rootless(no_connection(NotFound)));
    insta::assert_snapshot!(said(attempts, &linux()), @r"
    docker: this user may not use the Docker engine (at: unix:///var/run/docker.sock, from: Docker's default, also tried: unix:///run/user/1000/docker.sock)
    -> set up your own engine with `dockerd-rootless-setuptool.sh install`, or join the group that may use this one with `sudo usermod -aG docker $USER` and log in again (its members are as good as root)
    ");
    let mut attempts = at_the_default(no_connection(NotFound));
    attempts.push(rootless(no_connection(ConnectionRefused)));
    insta::assert_snapshot!(said(attempts, &linux()), @r"
    docker: nothing listens where the Docker engine should be (at: unix:///run/user/1000/docker.sock, from: rootless Docker, also tried: unix:///var/run/docker.sock)
    -> start it with `systemctl --user start docker`
    ");
}

#[test]
fn no_attempt_at_all_is_told_too() {
    insta::assert_snapshot!(said(Vec::new(), &linux()), @r"
    docker: the Docker engine is not running
    -> start it with `sudo systemctl start docker`, or your own with `systemctl --user start docker`
    ");
}

#[rstest]
#[case::missing(at_the_default(no_connection(NotFound)), Trouble::NothingThere)]
#[case::no_directory(at_the_default(no_connection(NotADirectory)), Trouble::NothingThere)]
#[case::no_such_host(at_docker_host(no_connection(NotFound)), Trouble::Other)]
#[case::firewall(at_docker_host(no_connection(PermissionDenied)), Trouble::Other)]
#[case::slow(at_the_default(no_connection(WouldBlock)), Trouble::Silent)]
#[case::cut_off(at_docker_host(no_connection(UnexpectedEof)), Trouble::NotAnEngine)]
#[case::thrown_out(at_docker_host(no_connection(ConnectionReset)), Trouble::NotAnEngine)]
fn failures_come_down_to_troubles(#[case] attempts: Vec<Attempt>, #[case] expected: Trouble) {
    assert_eq!(Trouble::of(&attempts[0]), expected);
}
