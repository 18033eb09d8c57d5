//! Exits that no run takes by itself: even then the run must be over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use exec_core::{
    Capabilities, Capture, Ended, Health, IsolationLevel, Request, RunHandle, RunId, SessionName, Signal,
    Status, WindowSize,
};
use rustix::process::{getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Mutex;
use tokio::task::yield_now;

use super::*;
use crate::args::WallsArg;
use crate::output::messages::tests::outcome;
use crate::output::{Escapes, Format, Treatment, Voice};
use crate::resolve::{OptsByBackend, Talk};

/// A signal reaches every listening test of this process.
static ALONE: Mutex<()> = Mutex::const_new(());

/// A run that ends some time after a stop request, and never otherwise.
#[derive(Debug, Default)]
struct Endless {
    stop_requested: Notify,
    over: AtomicBool,
}

impl Endless {
    async fn end(&self) {
        if !self.over.load(Ordering::Acquire) {
            self.stop_requested.notified().await;
            yield_now().await;
            self.over.store(true, Ordering::Release);
        }
    }
}

#[async_trait]
impl RunHandle for Endless {
    async fn next_event(&self) -> Option<Event> {
        self.end().await;
        None
    }
    async fn write_stdin(&self, _: Bytes) -> Result<()> {
        Ok(())
    }
    fn close_stdin(&self) {}
    fn signal(&self, _: Signal) {}
    fn resize(&self, _: WindowSize) {}
    fn cancel(&self) {
        self.stop_requested.notify_one();
    }
    fn kill(&self) {
        self.stop_requested.notify_one();
    }
    async fn wait(&self) -> Result<Outcome> {
        self.end().await;
        Ok(outcome(Ended::Cancelled, Status::Signal(Signal::TERM)))
    }
}

/// Starts the one run it has.
#[derive(Debug)]
struct Starter {
    capabilities: Capabilities,
    run: Arc<Endless>,
    start: Start,
}

/// What happens before a command has started.
#[derive(Debug, PartialEq, Eq)]
enum Start {
    Undisturbed,
    /// The user asks for an end.
    Terminated,
}

impl Starter {
    fn new(start: Start) -> Self {
        let capabilities = Capabilities {
            level: IsolationLevel::ProcessGroup,
            claims: [].into(),
            tty: true,
            sessions: false,
            images: false,
            engine: None,
            exceptions: std::collections::BTreeSet::new(),
        };
        Self { capabilities, run: Arc::default(), start }
    }
}

#[async_trait]
impl Executor for Starter {
    fn name(&self) -> &'static str {
        "starter"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
    async fn start(&self, _: &Cmd, _: &ExecOpts) -> Result<Execution> {
        if self.start == Start::Terminated {
            let mut seen = signal(SignalKind::terminate()).unwrap();
            kill_process(getpid(), rustix::process::Signal::TERM).unwrap();
            seen.recv().await;
            // Every other listener has received it too, and comes first.
            yield_now().await;
        }
        Ok(Execution::new(RunId::new("one"), Arc::clone(&self.run) as Arc<dyn RunHandle>))
    }
    async fn end_session(&self, _: &SessionName) -> Result<()> {
        Ok(())
    }
    async fn health(&self) -> Result<Health> {
        Ok(Health { warm_cells: 0, sessions: 0 })
    }
}

fn job(format: Format) -> Job {
    Job {
        commands: vec![Cmd::new("any")],
        opts: OptsByBackend::alike(
            &ExecOpts::in_workspace(std::env::temp_dir())
                .with_workspace_mode(agent_exec::WorkspaceMode::ReadOnly { writable: Vec::new() }),
        ),
        warnings: Vec::new(),
        request: Request::Auto { no_fallback: false, floor: None },
        ruled_out: None,
        walls: WallsArg::Auto,
        input: Input::Nothing,
        terminal: OurTerminal::Untouched,
        format,
        escapes: Escapes { stdout: Treatment::AsIs, stderr: Treatment::AsIs },
        talk: Talk::Quiet,
        voice: Voice::Person,
    }
}

/// R10, F7
#[tokio::test]
async fn a_failing_run_is_over_before_the_error_is_returned() {
    let _alone = ALONE.lock().await;
    let executor = Starter::new(Start::Undisturbed);
    let nowhere = Capture { spill: Some("/proc/self/no-such-directory".into()), ..Capture::default() };
    let mut signals = Signals::listen().unwrap();
    let end =
        drive(&executor, &job(Format::Json { capture: nowhere, warnings: Vec::new() }), &mut signals).await;
    assert_eq!(end.unwrap_err().kind(), ErrorKind::Io);
    assert!(executor.run.over.load(Ordering::Acquire), "the run should have ended first");
}

/// R10, R12: a command may already be running before its start is reported.
#[tokio::test]
async fn a_run_stopped_while_it_starts_is_driven_to_its_end() {
    let _alone = ALONE.lock().await;
    let executor = Starter::new(Start::Terminated);
    let mut signals = Signals::listen().unwrap();
    let end = drive(&executor, &job(Format::Stream), &mut signals).await;
    assert!(matches!(&end, Ok(End::Ran(outcome, _)) if outcome.ended == Ended::Cancelled), "{end:?}");
    assert!(executor.run.over.load(Ordering::Acquire), "the run should have ended first");
}
