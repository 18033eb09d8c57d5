//! Hosts, and where a Podman service is looked for on them.

use exec_container::surroundings::sample::Sample;
use rstest::rstest;

use super::*;

/// The places in order, one per line.
fn found(configured: Option<&str>, host: &Sample) -> String {
    match candidates(configured, host) {
        Ok(candidates) => candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        Err(error) => format!(
            "{error}\n-> {}",
            error.remedy().map_or_else(|| "nothing".to_owned(), ToString::to_string)
        ),
    }
}

const CONNECTIONS: &str = "/home/user/.config/containers/podman-connections.json";

fn with_connections(name: &'static str) -> Sample {
    let text = r#"{"Connection":{"Default":"vm","Connections":{
        "vm":{"URI":"ssh://core@127.0.0.1:53298/run/user/501/podman/podman.sock","Identity":"/k"},
        "near":{"URI":"unix:///srv/podman.sock"}}},"Farm":{}}"#;
    Sample::default().file(CONNECTIONS, text).with("CONTAINER_CONNECTION", name)
}

/// R60
#[test]
fn the_usual_places() {
    insta::assert_snapshot!(found(None, &Sample::default()), @"unix:///run/user/1000/podman/podman.sock (rootless Podman)");
    let host = Sample::default().with("XDG_RUNTIME_DIR", "/tmp/runtime").file("/tmp/runtime/bus", "");
    insta::assert_snapshot!(found(None, &host), @"unix:///tmp/runtime/podman/podman.sock (rootless Podman)");
    let root = Sample { user_id: 0, ..Sample::default() };
    insta::assert_snapshot!(found(None, &root), @"unix:///run/podman/podman.sock (the system's Podman)");
    let mac = Sample::on(System::MacOs).with("TMPDIR", "/var/folders/x/T");
    insta::assert_snapshot!(found(None, &mac), @r"
    unix:///var/folders/x/T/podman/podman-machine-default-api.sock (Podman machine)
    unix:///home/user/.local/share/containers/podman/machine/podman.sock (Podman machine)
    ");
    insta::assert_snapshot!(found(None, &Sample::on(System::Windows)), @"npipe:////./pipe/podman-machine-default (Podman machine)");
}

/// R60, A41: after `su`, the variable still names the first user's directory.
#[test]
fn a_runtime_directory_of_another_user_is_passed_over() {
    let host = Sample::default().with("XDG_RUNTIME_DIR", "/run/user/0");
    assert_eq!(found(None, &host), found(None, &Sample::default()));
}

/// R60: regardless of Docker's variables and files.
#[test]
fn dockers_places_are_not_among_them() {
    let host = Sample::default()
        .with("DOCKER_HOST", "unix:///var/run/docker.sock")
        .with("DOCKER_CONTEXT", "desktop")
        .file("/var/run/docker.sock", "")
        .file("/run/user/1000/docker.sock", "");
    assert_eq!(found(None, &host), found(None, &Sample::default()));
}

#[rstest]
#[case::configuration(Some("tcp://10.0.0.1:8080"), "tcp://10.0.0.1:8080 (the configuration)")]
#[case::variable(None, "unix:///run/other.sock (CONTAINER_HOST)")]
fn what_is_named_is_the_only_place(#[case] configured: Option<&str>, #[case] expected: &str) {
    let host = with_connections("near").with("CONTAINER_HOST", "unix:///run/other.sock");
    assert_eq!(found(configured, &host), expected);
}

#[test]
fn a_connection_is_looked_up() {
    assert_eq!(found(None, &with_connections("near")), "unix:///srv/podman.sock (connection `near`)");
    insta::assert_snapshot!(found(None, &with_connections("vm")), @r"
    podman: the engine at `ssh://core@127.0.0.1:53298/run/user/501/podman/podman.sock` is reached by SSH, which is not built in (from: connection `vm`)
    -> forward its socket with `ssh -nNT -L ~/.podman-remote.sock:/run/podman/podman.sock -p 53298 core@127.0.0.1` and set CONTAINER_HOST=unix://$HOME/.podman-remote.sock
    ");
    insta::assert_snapshot!(found(None, &with_connections("nothing")), @r"
    podman: there is no Podman connection `nothing` (from: CONTAINER_CONNECTION)
    -> set CONTAINER_CONNECTION to one that `podman system connection list` shows, or say with CONTAINER_HOST where the service is
    ");
}

#[test]
fn variables_without_a_value_say_nothing() {
    let host = Sample::default().with("CONTAINER_HOST", "").with("CONTAINER_CONNECTION", "");
    assert_eq!(found(None, &host), found(None, &Sample::default()));
}

#[test]
fn only_a_configured_address_is_the_callers_mistake() {
    let kind = |configured, host: &Sample| candidates(configured, host).unwrap_err().kind();
    assert_eq!(kind(Some("ftp://x"), &Sample::default()), ErrorKind::InvalidInput);
    assert_eq!(kind(None, &Sample::default().with("CONTAINER_HOST", "ftp://x")), ErrorKind::Unavailable);
}
