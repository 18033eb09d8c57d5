//! The server at the address is not a usable engine.

use exec_cell::{Backend, Setup};
use exec_core::{Detected, ErrorKind};
use rstest::rstest;

use crate::fake::{FakeEngine, Reply};
use crate::support::{config, refusal, said};

async fn greeted_with(reply: Reply) -> String {
    let fake = FakeEngine::new([("/_ping", reply)]);
    said(&refusal(&fake.host()).await, Some(&fake))
}

/// F5
#[tokio::test]
async fn nothing_at_all() {
    insta::assert_snapshot!(greeted_with(Reply::silence()).await, @r"
    Unavailable: docker: the Docker engine does not answer in time (at: [engine], from: the configuration)
    -> check that the engine is well and can be reached from here, or correct the configured address
    ");
}

/// F5
#[tokio::test]
async fn garbage() {
    insta::assert_snapshot!(greeted_with(Reply::raw(b"\0\xff\x1b[2J\r\n\r\n")).await, @r"
    Unavailable: docker: the answer is not from a Docker engine (at: [engine], from: the configuration)
    -> check what listens there, or correct the configured address
    ");
}

/// F5
#[tokio::test]
async fn podman() {
    let podman = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nLibpod-Api-Version: 4.3.1\r\nServer: Libpod/4.3.1 (linux)\r\n\r\nOK";
    insta::assert_snapshot!(greeted_with(Reply::raw(podman)).await, @r"
    Unavailable: docker: it is Podman that answers, not Docker (at: [engine], from: the configuration)
    -> set the option `executor` to `podman` to use Podman as such, or correct the configured address
    ");
}

/// F5
#[rstest]
#[case::another_server(Reply::json("404 Not Found", "<html>nginx</html>"))]
#[case::another_protocol(Reply::raw("SSH-2.0-OpenSSH_9.2p1\r\n"))]
#[case::hung_up_on(Reply::raw(""))]
#[case::cut_off_in_the_head(Reply::raw("HTTP/1.1 200 OK\r\nApi-Vers"))]
#[case::no_version(Reply::json("200 OK", "OK"))]
#[case::endless_head(Reply::raw("x".repeat(1 << 20)))]
#[case::slow_head(Reply::endless("HTTP/1.1 200 OK\r\nApi-Vers"))]
#[tokio::test]
async fn something_else(#[case] reply: Reply) {
    let fake = FakeEngine::new([("/_ping", reply)]);
    let error = refusal(&fake.host()).await;
    assert_eq!((error.kind(), error.backend()), (ErrorKind::Unavailable, Some("docker")), "{error}");
    assert!(error.to_string().contains(&fake.host()) && error.remedy().is_some(), "{error}");
    assert_eq!(fake.requests("").len(), 1, "a server that is not an engine gets no further request");
}

/// F5, R4: an engine whose containers could not run our PID 1 is refused, with the command that adds support.
#[rstest]
#[case::not_built_in(if cfg!(target_arch = "x86_64") { "arm64" } else { "amd64" }, "`rustup target add ")]
#[case::unknown("riscv64", "use an engine on x86_64 or aarch64")]
#[tokio::test]
#[cfg_attr(not(debug_assertions), ignore = "a release may carry both")]
async fn another_architecture(#[case] architecture: &str, #[case] remedy: &str) {
    let fake = FakeEngine::new([("/info", Reply::info(architecture))]);
    let error = refusal(&fake.host()).await;
    assert_eq!((error.kind(), error.backend()), (ErrorKind::Unavailable, Some("docker")), "{error}");
    assert!(error.to_string().contains(architecture), "{error}");
    assert!(
        error.remedy().is_some_and(|text| text.to_string().contains(remedy)),
        "{error} {:?}",
        error.remedy()
    );
    assert!(fake.requests("/containers/").is_empty(), "nothing was made");
}

/// R4: without an engine, the list has an entry with the reason, and no error.
#[tokio::test]
async fn a_registry_lists_it_as_missing() {
    let detected = config("unix:///no/such/engine.sock").detect(Setup::default()).await.unwrap();
    let Detected::Missing { reason, remedy } = detected else { panic!("{detected:?}") };
    assert!(reason.contains("/no/such/engine.sock") && !remedy.to_string().is_empty(), "{reason} {remedy}");
}
