//! An engine that greets well and then fails.

use exec_core::{Error, ErrorKind};
use rstest::rstest;

use crate::fake::{FakeEngine, Reply};
use crate::support::{config, connect, eventually, failure, refusal, said};

fn refuses() -> Reply {
    Reply::json("500 Internal Server Error", r#"{"message":"the dog ate it"}"#)
}

fn nonsense() -> Reply {
    Reply::json("200 OK", "{\"Id\": [nonsense")
}

fn not_even_http() -> Reply {
    Reply::raw("\0\0\x07what?\r\n\r\n")
}

fn cut_off() -> Reply {
    Reply::cut_off("200 OK", "{\"Id\":\"c0")
}

/// An error names what failed, on what object, and a remedy.
#[track_caller]
fn ensure_useful(error: &Error, verb: &str) {
    assert_eq!((error.kind(), error.backend()), (ErrorKind::Engine, Some("docker")), "{error}");
    assert!(error.to_string().contains(verb), "{error}");
    assert!(error.remedy().is_some(), "{error}");
}

/// F5
#[rstest]
#[case::refused(refuses())]
#[case::nonsense(nonsense())]
#[case::not_even_http(not_even_http())]
#[case::cut_off(cut_off())]
#[case::silent(Reply::silence())]
#[tokio::test]
async fn the_first_question(#[case] reply: Reply) {
    let fake = FakeEngine::new([("/info", reply)]);
    ensure_useful(&refusal(&fake.host()).await, "say what it is");
}

/// F5: the image is requested when it turns out to be missing.
#[rstest]
#[case::refused(refuses())]
#[case::nonsense(nonsense())]
#[case::not_even_http(not_even_http())]
#[case::cut_off(cut_off())]
#[case::silent(Reply::silence())]
#[tokio::test]
async fn the_image(#[case] reply: Reply) {
    let missing = Reply::json("404 Not Found", r#"{"message":"No such image: agentctl/host:it"}"#);
    let fake = FakeEngine::new([("/containers/create", missing), ("/images/", reply)]);
    let executor = connect(&fake.host()).await.unwrap();
    ensure_useful(&failure(&executor).await, "inspect image agentctl/host");
    assert_eq!(fake.requests("/containers/create").len(), 1, "it is not tried again without");
    assert_eq!(fake.requests("DELETE"), [""; 0], "there is nothing to remove");
}

/// F5: whatever the engine made of the request, it is asked to remove the container by its name.
#[rstest]
#[case::refused("create", refuses())]
#[case::nonsense("create", nonsense())]
#[case::not_even_http("create", not_even_http())]
#[case::cut_off("create", cut_off())]
#[case::silent("create", Reply::silence())]
#[case::attach_refused("attach", refuses())]
#[case::attach_no_upgrade("attach", nonsense())]
#[case::attach_not_even_http("attach", not_even_http())]
#[case::attach_cut_off("attach", cut_off())]
#[case::attach_silent("attach", Reply::silence())]
#[case::start_refused("start", refuses())]
#[case::start_not_even_http("start", not_even_http())]
#[case::start_cut_off("start", Reply::raw("HTTP/1.1 20"))]
#[case::start_silent("start", Reply::silence())]
#[tokio::test]
async fn a_container(#[case] verb: &'static str, #[case] reply: Reply) {
    let part = match verb {
        "create" => "/containers/create",
        "attach" => "/attach",
        _ => "/start",
    };
    let fake = FakeEngine::new([(part, reply)]);
    let executor = connect(&fake.host()).await.unwrap();
    let error = failure(&executor).await;
    ensure_useful(&error, verb);
    let created = fake.requests("/containers/create");
    let [created] = created.as_slice() else { panic!("{created:?}") };
    let name = created.split("name=").nth(1).and_then(|rest| rest.split([' ', '&']).next()).unwrap();
    assert!(error.to_string().contains(name), "{error}");
    let removal = format!("/containers/{name}?");
    eventually("it is removed", || fake.requests("DELETE").iter().any(|line| line.contains(&removal))).await;
}

/// F5: the error of a missing executor.
#[tokio::test]
async fn messages_without_an_executor() {
    let fake = FakeEngine::new([]);
    let mut texts = Vec::new();
    for reply in [refuses(), Reply::silence(), nonsense(), cut_off()] {
        fake.change([("/info", reply)]);
        texts.push(said(&refusal(&fake.host()).await, Some(&fake)));
    }
    insta::assert_snapshot!(texts.join("\n"), @r"
    Engine: docker: the engine refused to say what it is: the dog ate it (status: 500)
    -> see the engine's log (`journalctl -u docker`)
    Engine: docker: the engine did not answer in time; can't say what it is (waited: 300ms)
    -> see whether it hangs (`docker ps`), and restart it
    Engine: docker: the engine's answer makes no sense; can't say what it is: Failed to deserialize JSON: expected ident at line 1 column 10
    -> check which program listens on the engine's socket, and its version
    Engine: docker: the connection to the engine broke; can't say what it is: end of file before message length reached
    -> see whether the engine runs (`docker info`) and start it
    ");
}

/// F5: the error of a command that can't be run.
#[tokio::test]
async fn messages_without_a_container() {
    let fake = FakeEngine::new([]);
    let executor = connect(&fake.host()).await.unwrap();
    let mut texts = Vec::new();
    for reply in [refuses(), Reply::silence(), nonsense(), cut_off()] {
        fake.change([("/containers/create", reply)]);
        texts.push(said(&failure(&executor).await, Some(&fake)));
    }
    insta::assert_snapshot!(texts.join("\n"), @r"
    Engine: docker: the engine refused to create [container]: the dog ate it (status: 500)
    -> see the engine's log (`journalctl -u docker`)
    Engine: docker: the engine did not answer in time; can't create [container] (waited: 300ms)
    -> see whether it hangs (`docker ps`), and restart it
    Engine: docker: the engine's answer makes no sense; can't create [container]: Failed to deserialize JSON: invalid type: sequence, expected a string at line 1 column 7
    -> check which program listens on the engine's socket, and its version
    Engine: docker: the connection to the engine broke; can't create [container]: end of file before message length reached
    -> see whether the engine runs (`docker info`) and start it
    ");
}

/// F5: an engine that ends between two commands.
#[tokio::test]
async fn a_vanished_engine_is_reported_as_gone() {
    let fake = FakeEngine::new([]);
    let executor = connect(&fake.host()).await.unwrap();
    drop(fake);
    tokio::task::yield_now().await;
    let error = failure(&executor).await;
    ensure_useful(&error, "can't create");
    assert!(error.to_string().starts_with("docker: the engine is gone; "), "{error}");
}

/// F5, R15: an engine that fails to remove the container is asked again, with or without a caller waiting.
#[tokio::test]
async fn a_failed_removal_is_repeated() {
    let stays = ("GET /containers/", Reply::json("200 OK", r#"{"Id":"c0ffee"}"#));
    let fake = FakeEngine::new([("/start", refuses()), ("DELETE", refuses()), stays]);
    let executor = connect(&fake.host()).await.unwrap();
    ensure_useful(&failure(&executor).await, "start");
    drop(executor);
    // More often than time allows while a caller waits.
    eventually("it is asked for again and again", || fake.requests("DELETE").len() > 4).await;
}

/// F5, R15: a container that does not exist yet may still appear.
#[tokio::test]
async fn a_pending_creation_is_awaited() {
    let absent = Reply::json("404 Not Found", r#"{"message":"No such container: it"}"#);
    let fake = FakeEngine::new([("/containers/create", Reply::silence()), ("DELETE", absent)]);
    let executor = connect(&fake.host()).await.unwrap();
    ensure_useful(&failure(&executor).await, "create");
    eventually("it is asked for more than once", || fake.requests("DELETE").len() > 2).await;
}

/// The engine's address for the part of a test that runs again.
const ADDRESS: &str = "EXEC_DOCKER_FAKE";

/// F1, F5: a container that hangs between creation and start is removed after its owner's death.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_reaper_removes_a_half_made_container() {
    let fake = FakeEngine::new([("/start", Reply::silence())]);
    let mut orchestrator = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "making::waits_for_a_start", "--ignored", "--nocapture"])
        .env(ADDRESS, fake.host())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually("it is made", || !fake.requests("/start").is_empty()).await;
    assert_eq!(fake.requests("DELETE"), [""; 0], "it is not removed while it may still start");
    orchestrator.kill().unwrap();
    orchestrator.wait().unwrap();
    eventually("it is removed", || !fake.requests("DELETE").is_empty()).await;
}

#[tokio::test]
#[ignore = "the part of `the_reaper_removes_a_half_made_container` that is killed"]
async fn waits_for_a_start() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let mut config = config(&address);
    config.containers.patience = exec_docker::Patience::default();
    let executor = exec_docker::DockerExec::new(config).await.unwrap();
    failure(&executor).await;
}
