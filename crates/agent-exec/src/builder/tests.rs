//! What is built of which answers.

use exec_core::{Error, ErrorKind};

use super::*;
use crate::Found;

/// Answers that need no engine: nothing is ready here, which is enough to see who was asked.
fn probes() -> Vec<Probe> {
    ["docker", "podman", "local"].map(Probe::not_built_in).into()
}

async fn refusal(builder: Builder) -> Error {
    builder.choose(probes()).await.map(|sandbox| sandbox.selection().name.clone()).unwrap_err()
}

/// R6, R62
#[tokio::test]
async fn auto_says_why_none_will_do() {
    let error = refusal(builder()).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    for name in ["docker: ", "podman: ", "local: "] {
        assert!(error.to_string().contains(name), "{error}");
    }
}

/// R62
#[tokio::test]
async fn a_name_or_no_fallback_is_about_one_only() {
    let named = refusal(builder().sandbox("podman")).await;
    assert_eq!((named.backend(), named.kind()), (Some("podman"), ErrorKind::Unavailable));
    assert_eq!(refusal(builder().no_fallback()).await.backend(), Some("docker"));
    let without = builder().no_fallback().rule_out("docker", "ENABLE_DOCKER=false");
    assert_eq!(refusal(without).await.backend(), Some("podman"));
}

/// R6
#[tokio::test]
async fn a_name_that_nobody_has_lists_those_there_are() {
    let error = refusal(builder().sandbox("dokcer")).await;
    assert_eq!(
        (error.kind(), error.remedy()),
        (ErrorKind::NotFound, Some("use one of these: docker, podman, local"))
    );
}

/// R61
#[test]
fn auto_is_a_name_too() {
    let request = builder().sandbox("docker").sandbox("auto").no_fallback().as_request();
    assert_eq!(request, Request::Auto { no_fallback: true, floor: None });
    let round = builder().request(Request::Named { name: "local".into(), floor: None }).as_request();
    assert_eq!(round, Request::Named { name: "local".into(), floor: None });
}

/// R60
#[cfg(feature = "local")]
#[tokio::test]
async fn evidence_says_who_was_asked() {
    let sandbox = builder().sandbox("local").build().await.unwrap();
    let found: Vec<(&str, bool)> =
        sandbox.evidence().iter().map(|e| (e.executor.as_str(), e.found == Found::NotTried)).collect();
    assert_eq!(found, [("docker", true), ("podman", true), ("local", false)]);
}

/// R60: what is only tried must not be what fails.
#[cfg(feature = "local")]
#[tokio::test]
async fn a_directory_that_cant_be_a_workspace_is_not_tried() {
    assert!(!can_be_tried(&ExecOpts::in_workspace("/")));
    assert!(can_be_tried(&trial()), "the tests run in a directory of their own");
    let sandbox = builder().sandbox("local").tried_here().build().await.unwrap();
    assert_eq!(sandbox.selection().name, "local");
}
