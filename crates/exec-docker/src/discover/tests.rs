//! Hosts, and where a Docker engine is looked for on them.

use rstest::rstest;

use super::*;
use exec_container::surroundings::sample::Sample;

const META: &str = "/home/user/.docker/contexts/meta";
const CONFIG: &str = "/home/user/.docker/config.json";

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

/// A host with contexts: some are broken, and `current` is the selected one.
fn with_contexts(current: &str) -> Sample {
    let meta = |id: &str, text: &str| (format!("{META}/{id}/meta.json"), text.to_owned());
    let files = [
        meta("0", "nonsense"),
        meta(
            "1",
            r#"{"Name":"remote","Metadata":{},"Endpoints":{"docker":{"Host":"tcp://10.0.0.7:2375","SkipTLSVerify":false}}}"#,
        ),
        meta(
            "2",
            r#"{"Name":"desktop-linux","Endpoints":{"docker":{"Host":"unix:///home/user/.docker/desktop/docker.sock"}}}"#,
        ),
        meta("3", r#"{"Name":"secure","Endpoints":{"docker":{"Host":"tcp://build.example:2376"}}}"#),
        meta(
            "4",
            r#"{"Name":"unchecked","Endpoints":{"docker":{"Host":"tcp://10.0.0.8:2376","SkipTLSVerify":true}}}"#,
        ),
        meta("5", r#"{"Name":"cluster","Endpoints":{"kubernetes":{}}}"#),
        meta("6", r#"{"Name":"shell","Endpoints":{"docker":{"Host":"ssh://me@build.example"}}}"#),
        (CONFIG.to_owned(), format!(r#"{{"auths":{{}},"currentContext":"{current}"}}"#)),
        ("/home/user/.docker/contexts/tls/3/docker/ca.pem".to_owned(), String::new()),
    ];
    files.iter().fold(Sample::default(), |host, (path, text)| host.file(path, text))
}

#[test]
fn the_usual_places() {
    let linux = Sample::default();
    insta::assert_snapshot!(found(None, &linux), @r"
    unix:///var/run/docker.sock (Docker's default)
    unix:///run/user/1000/docker.sock (rootless Docker)
    unix:///home/user/.docker/desktop/docker.sock (Docker Desktop)
    ");
    let linux = linux.with("XDG_RUNTIME_DIR", "/tmp/runtime").file("/tmp/runtime/bus", "");
    insta::assert_snapshot!(found(None, &linux), @r"
    unix:///var/run/docker.sock (Docker's default)
    unix:///tmp/runtime/docker.sock (rootless Docker)
    unix:///home/user/.docker/desktop/docker.sock (Docker Desktop)
    ");
    insta::assert_snapshot!(found(None, &Sample::on(System::MacOs)), @r"
    unix:///var/run/docker.sock (Docker's default)
    unix:///home/user/.docker/run/docker.sock (Docker Desktop)
    ");
    insta::assert_snapshot!(found(None, &Sample::on(System::Windows)), @"npipe:////./pipe/docker_engine (Docker's default)");
}

/// A41: after `su`, the variable still names the first user's directory.
#[test]
fn a_runtime_directory_of_another_user_is_passed_over() {
    let host = Sample::default().with("XDG_RUNTIME_DIR", "/run/user/0");
    assert_eq!(found(None, &host), found(None, &Sample::default()));
}

#[test]
fn somebody_without_a_home_has_an_engine_too() {
    let mut host = Sample::default();
    host.variables.clear();
    insta::assert_snapshot!(found(None, &host), @r"
    unix:///var/run/docker.sock (Docker's default)
    unix:///run/user/1000/docker.sock (rootless Docker)
    ");
}

#[rstest]
#[case::configuration(Some("tcp://10.0.0.1"), "tcp://10.0.0.1:2375 (the configuration)")]
#[case::variable(None, "unix:///run/other.sock (DOCKER_HOST)")]
fn what_is_named_is_the_only_place(#[case] configured: Option<&str>, #[case] expected: &str) {
    let host = with_contexts("remote")
        .with("DOCKER_HOST", "unix:///run/other.sock")
        .with("DOCKER_CONTEXT", "nothing");
    assert_eq!(found(configured, &host), expected);
}

#[test]
fn variables_without_a_value_say_nothing() {
    let host = Sample::default().with("DOCKER_HOST", "").with("DOCKER_CONTEXT", "").with("DOCKER_CONFIG", "");
    assert_eq!(found(None, &host), found(None, &Sample::default()));
}

#[test]
fn the_context_in_force_is_the_only_place() {
    assert_eq!(found(None, &with_contexts("remote")), "tcp://10.0.0.7:2375 (context `remote`)");
    let host = with_contexts("remote").with("DOCKER_CONTEXT", "desktop-linux");
    let desktop = "unix:///home/user/.docker/desktop/docker.sock (context `desktop-linux`)";
    assert_eq!(found(None, &host), desktop);
}

#[test]
fn the_context_default_means_to_go_on() {
    let usual = found(None, &Sample::default());
    assert_eq!(found(None, &with_contexts("default")), usual);
    assert_eq!(found(None, &with_contexts("")), usual);
    assert_eq!(found(None, &with_contexts("remote").with("DOCKER_CONTEXT", "default")), usual);
    assert_eq!(found(None, &Sample::default().file(CONFIG, "{}")), usual);
}

#[test]
fn configuration_may_be_elsewhere() {
    let host = with_contexts("remote").with("DOCKER_CONFIG", "/srv/docker");
    assert_eq!(found(None, &host), found(None, &Sample::default()));
    let host = host.file("/srv/docker/config.json", r#"{"currentContext":"other"}"#).file(
        "/srv/docker/contexts/meta/x/meta.json",
        r#"{"Name":"other","Endpoints":{"docker":{"Host":"tcp://x"}}}"#,
    );
    assert_eq!(found(None, &host), "tcp://x:2375 (context `other`)");
}

#[test]
fn what_is_named_and_wrong_is_the_answer() {
    let host = |name, value| Sample::default().with(name, value);
    insta::assert_snapshot!(found(Some("unix://docker.sock"), &Sample::default()), @r"
    docker: `unix://docker.sock` is not the address of an engine: the path of a socket begins with `/` (from: the configuration)
    -> write it as unix:///path, tcp://host:port or npipe:////./pipe/name
    ");
    insta::assert_snapshot!(found(None, &host("DOCKER_HOST", "tcp://x:y")), @r"
    docker: `tcp://x:y` is not the address of an engine: its port is not a number from 1 to 65535 (from: DOCKER_HOST)
    -> write it as unix:///path, tcp://host:port or npipe:////./pipe/name
    ");
    insta::assert_snapshot!(found(None, &host("DOCKER_HOST", "ssh://me@build.example:2222")), @r"
    docker: the engine at `ssh://me@build.example:2222` is reached by SSH, which is not built in (from: DOCKER_HOST)
    -> forward its socket with `ssh -nNT -L ~/.docker/remote.sock:/var/run/docker.sock -p 2222 me@build.example` and set DOCKER_HOST=unix://$HOME/.docker/remote.sock
    ");
    insta::assert_snapshot!(found(None, &host("DOCKER_CONTEXT", "nothing")), @r"
    docker: there is no Docker context `nothing`
    -> set DOCKER_CONTEXT, or `docker context use`, to one that `docker context ls` lists
    ");
    insta::assert_snapshot!(found(None, &with_contexts("nothing")), @r"
    docker: there is no Docker context `nothing`
    -> set DOCKER_CONTEXT, or `docker context use`, to one that `docker context ls` lists
    ");
    insta::assert_snapshot!(found(None, &with_contexts("cluster")), @r"
    docker: the Docker context `cluster` names no engine
    -> set DOCKER_CONTEXT, or `docker context use`, to one that `docker context ls` lists
    ");
    insta::assert_snapshot!(found(None, &with_contexts("shell")), @r"
    docker: the engine at `ssh://me@build.example` is reached by SSH, which is not built in (from: context `shell`)
    -> forward its socket with `ssh -nNT -L ~/.docker/remote.sock:/var/run/docker.sock me@build.example` and set DOCKER_HOST=unix://$HOME/.docker/remote.sock
    ");
}

#[test]
fn a_context_needs_no_home_to_be_wrong() {
    let mut host = Sample::default();
    host.variables.clear();
    let host = host.with("DOCKER_CONTEXT", "remote");
    assert!(found(None, &host).contains("there is no Docker context `remote`"));
}

#[test]
fn a_configuration_that_can_not_be_read_is_no_permission_to_guess() {
    insta::assert_snapshot!(found(None, &Sample::default().file(CONFIG, "{")), @r"
    docker: Docker's configuration /home/user/.docker/config.json can't be read: EOF while parsing an object at line 1 column 1
    -> correct the file, or say with DOCKER_HOST where the engine is
    ");
    insta::assert_snapshot!(found(None, &Sample::default().file(CONFIG, "unreadable")), @r"
    docker: Docker's configuration /home/user/.docker/config.json can't be read: permission denied
    -> correct the file, or say with DOCKER_HOST where the engine is
    ");
}

#[test]
fn tls_is_refused_with_a_way_around() {
    insta::assert_snapshot!(found(None, &with_contexts("secure")), @r"
    docker: the engine at `build.example` asks for TLS, which is not built in (from: context `secure`)
    -> forward its socket with `ssh -nNT -L ~/.docker/remote.sock:/var/run/docker.sock build.example` and set DOCKER_HOST=unix://$HOME/.docker/remote.sock
    ");
    insta::assert_snapshot!(found(None, &with_contexts("unchecked")), @r"
    docker: the engine at `10.0.0.8` asks for TLS, which is not built in (from: context `unchecked`)
    -> forward its socket with `ssh -nNT -L ~/.docker/remote.sock:/var/run/docker.sock 10.0.0.8` and set DOCKER_HOST=unix://$HOME/.docker/remote.sock
    ");
    let host = Sample::default().with("DOCKER_TLS_VERIFY", "1");
    let remote = host.clone().with("DOCKER_HOST", "tcp://10.0.0.9:2376");
    insta::assert_snapshot!(found(None, &remote), @r"
    docker: the engine at `10.0.0.9` asks for TLS, which is not built in (from: DOCKER_HOST)
    -> forward its socket with `ssh -nNT -L ~/.docker/remote.sock:/var/run/docker.sock 10.0.0.9` and set DOCKER_HOST=unix://$HOME/.docker/remote.sock
    ");
    assert_eq!(found(None, &host), found(None, &Sample::default()), "sockets don't use TLS");
    let socket = host.with("DOCKER_HOST", "unix:///run/other.sock");
    assert_eq!(found(None, &socket), "unix:///run/other.sock (DOCKER_HOST)");
}

#[test]
fn only_a_configured_address_is_the_callers_mistake() {
    let kind = |configured, host: &Sample| candidates(configured, host).unwrap_err().kind();
    assert_eq!(kind(Some("ftp://x"), &Sample::default()), ErrorKind::InvalidInput);
    assert_eq!(kind(Some("ssh://x"), &Sample::default()), ErrorKind::Unavailable);
    assert_eq!(kind(None, &Sample::default().with("DOCKER_HOST", "ftp://x")), ErrorKind::Unavailable);
}
