//! Execution in a plain process group: available on every Unix, and reported honestly.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::time::Duration;

use bytes::Bytes;
use exec_core::{
    ByteSize, Cmd, Ended, ErrorKind, ExecOpts, Executor, ExecutorExt, IsolationLevel, Network, SessionName,
    Signal, Status, Stdin, WindowSize,
};
use exec_local::{LocalConfig, LocalExec, WallsChoice};
use tempfile::TempDir;

async fn group() -> (LocalExec, TempDir, ExecOpts) {
    let config = LocalConfig { walls: WallsChoice::ProcessGroup, ..LocalConfig::default() };
    let workspace = tempfile::tempdir().unwrap();
    let opts = ExecOpts::in_workspace(workspace.path());
    (LocalExec::new(config).await.unwrap(), workspace, opts)
}

/// R3, R4
#[tokio::test]
async fn status_and_output_come_back_with_an_honest_report() {
    let (executor, _workspace, opts) = group().await;
    let result = executor.shell("echo out; echo err >&2; exit 3", &opts).await.unwrap();
    assert_eq!((result.exit_code(), result.ended()), (Some(3), Ended::Exited));
    assert_eq!((result.stdout.text(), result.stderr.text()), ("out\n".into(), "err\n".into()));
    assert_eq!(result.outcome.isolation.level, IsolationLevel::ProcessGroup);
    assert!(result.outcome.isolation.claims.is_empty() && !result.outcome.isolation.degraded.is_empty());
}

#[tokio::test]
async fn input_reaches_the_command() {
    let (executor, _workspace, opts) = group().await;
    let opts = opts.with_stdin(Stdin::Bytes(Bytes::from_static(b"hello")));
    assert_eq!(executor.run(&Cmd::new("cat"), &opts).await.unwrap().stdout.text(), "hello");
}

/// R10, as far as a process group goes.
#[tokio::test]
async fn limits_and_stops_end_the_group() {
    let (executor, _workspace, opts) = group().await;
    let timed = opts.clone().with_timeout(Duration::from_millis(200)).with_grace(Duration::from_millis(100));
    let result = executor.shell("trap '' TERM; sleep 1000 & wait; wait", &timed).await.unwrap();
    assert_eq!((result.ended(), result.outcome.status), (Ended::TimedOut, Status::Signal(Signal::KILL)));
    let idle = opts.clone().with_idle_timeout(Duration::from_millis(200));
    assert_eq!(executor.shell("echo; sleep 1000", &idle).await.unwrap().ended(), Ended::TimedOut);
    let little = opts.clone().with_output_limit(ByteSize::bytes(1000));
    let result = executor.run(&Cmd::new("yes"), &little).await.unwrap();
    assert_eq!((result.ended(), result.stdout.total()), (Ended::OutputLimit, 1000));
    let execution = executor.start(&Cmd::new("sleep").arg("1000"), &opts).await.unwrap();
    execution.cancel();
    assert_eq!(execution.wait().await.unwrap().ended, Ended::Cancelled);
}

#[tokio::test]
async fn limits_beyond_a_process_group_are_refused() {
    let (executor, _workspace, opts) = group().await;
    let refused = [
        (opts.clone().with_network(Network::None), ErrorKind::Unsupported),
        (opts.clone().with_memory(ByteSize::mib(64)), ErrorKind::LimitNotEnforced),
        (opts.clone().with_min_isolation(IsolationLevel::Subreaper), ErrorKind::IsolationTooWeak),
        (opts.clone().with_tty(WindowSize::default()), ErrorKind::Unsupported),
        (opts.clone().in_session(SessionName::new("s")), ErrorKind::Unsupported),
    ];
    for (opts, kind) in refused {
        assert_eq!(executor.run(&Cmd::new("true"), &opts).await.unwrap_err().kind(), kind);
    }
    let missing = executor.run(&Cmd::new("no-such-program"), &opts).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::ProgramNotFound);
}
