//! Which sandbox is built from which answers.

use std::path::PathBuf;

use exec_core::{Error, ErrorKind};

use super::*;
use crate::Found;
use crate::backends::NotBuiltIn;

/// A builder whose backends are all missing, which is enough to see which ones were asked.
fn builder() -> Builder {
    let missing = ["docker", "podman", "local"].map(|name| Arc::new(NotBuiltIn(name)) as Arc<dyn Backend>);
    crate::builder().backends(missing.into_iter().collect())
}

async fn refusal(builder: Builder) -> Error {
    builder.build().await.map(|sandbox| sandbox.selection().name.clone()).unwrap_err()
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
        (ErrorKind::NotFound, Some(&"use one of these: docker, podman, local".into()))
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
    let sandbox = crate::builder().sandbox("local").build().await.unwrap();
    let found: Vec<(&str, bool)> =
        sandbox.evidence().iter().map(|e| (e.executor.as_str(), e.found == Found::NotTried)).collect();
    assert_eq!(found, [("docker", true), ("podman", true), ("local", false)]);
}

/// R60: the trial itself must not make the search fail.
#[cfg(feature = "local")]
#[tokio::test]
async fn a_directory_that_cant_be_a_workspace_is_not_tried() {
    assert!(!can_be_tried(&ExecOpts::in_workspace("/")));
    assert!(can_be_tried(&trial()), "the tests run in a directory of their own");
    let sandbox = crate::builder().sandbox("local").tried_here().build().await.unwrap();
    assert_eq!(sandbox.selection().name, "local");
}

/// A third party's backend: local cells under a name of its own.
#[cfg(feature = "local")]
#[derive(Debug)]
struct Careful;

#[cfg(feature = "local")]
#[async_trait::async_trait]
impl Backend for Careful {
    fn name(&self) -> &'static str {
        "careful"
    }

    fn aliases(&self) -> &[&str] {
        &["cautious"]
    }

    async fn detect(&self, setup: Setup) -> Result<exec_core::Detected> {
        exec_local::LocalConfig::default().detect(setup).await
    }
}

/// R60, R62: the executor and its results carry the name under which the backend is registered.
#[cfg(feature = "local")]
#[tokio::test]
async fn a_backend_of_a_third_party_is_chosen_like_any_other() {
    use exec_core::Executor;

    let workspace = tempfile::tempdir().unwrap();
    let with_it = || builder().backend(Arc::new(Careful)).first_run(ExecOpts::in_workspace(workspace.path()));
    let by_auto = with_it().build().await.unwrap();
    assert_eq!((by_auto.name(), by_auto.selection().passed_over.len()), ("careful", 0));
    let by_alias = with_it().sandbox("cautious").build().await.unwrap();
    assert_eq!((by_alias.name(), by_alias.selection().requested.as_str()), ("careful", "careful"));
    let result = by_alias.run(&Cmd::new("true"), &ExecOpts::in_workspace(workspace.path())).await.unwrap();
    assert_eq!(result.outcome.executor, "careful");
    let ruled_out = refusal(with_it().rule_out("cautious", "MINE=false")).await;
    assert!(ruled_out.to_string().contains("careful: "), "{ruled_out}");
    let last = Backends::default().with_last(Arc::new(Careful));
    let miss = refusal(builder().backends(last).sandbox("carefull")).await;
    assert_eq!(miss.remedy().unwrap().to_string(), "use one of these: docker, podman, local, careful");
}

/// The options of the first run are those given for the backend, by its name or an alias.
#[test]
fn the_setup_is_the_backends_own() {
    let opts = |path: &str| ExecOpts::in_workspace(path);
    let builder = builder().first_run(opts("/any")).first_run_on("docker", opts("/docker")).warm_cells(3);
    let workspace = |name: &str| builder.setup(name, None).first_run.unwrap().workspace.path.unwrap();
    assert_eq!([workspace("docker"), workspace("local")], [PathBuf::from("/docker"), PathBuf::from("/any")]);
    assert_eq!(builder.setup("local", None).warm_cells, Some(3));
}
