//! The harness itself: a bare spawn that claims to be a sandbox is detected, and nothing passes unnoticed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use exec_core::{
    Capabilities, Claim, Cmd, Ended, Error, ErrorKind, Event, Exception, ExecOpts, Execution, Health,
    Isolation, IsolationLevel, Outcome, RunHandle, RunId, SessionName, Signal, Status, Stream, Usage,
    WindowSize,
};
use libtest_mimic::Conclusion;

use super::*;
use crate::Need;

/// Starts a process on the host and calls that a cell.
#[derive(Debug)]
struct Bare {
    capabilities: Capabilities,
}

impl Bare {
    fn that_claims(claims: &[Claim]) -> Arc<dyn Executor> {
        let claims: BTreeSet<_> = claims.iter().copied().collect();
        let level = IsolationLevel::Namespaces;
        Arc::new(Self {
            capabilities: Capabilities {
                level,
                claims,
                tty: false,
                sessions: false,
                images: false,
                engine: None,
                exceptions: BTreeSet::new(),
            },
        })
    }
}

#[async_trait]
impl Executor for Bare {
    fn name(&self) -> &'static str {
        "bare"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> exec_core::Result<Execution> {
        let args: Vec<_> = cmd.argv().skip(1).collect();
        let mut command = Command::new(cmd.program());
        command.args(args).current_dir(opts.workspace.path.clone().unwrap()).stdin(Stdio::null());
        let output = command.output().map_err(|error| Error::new(ErrorKind::Io, "run", error.to_string()))?;
        let status = Status::Code(output.status.code().unwrap_or(1));
        let stdout = Event::Output { stream: Stream::Stdout, bytes: output.stdout.into() };
        let events = Mutex::new(vec![Event::Exited(status), stdout, Event::Started { pid: 1 }]);
        let claims = self.capabilities.claims.clone();
        let isolation = Isolation { claims, ..Isolation::new(self.capabilities.level) };
        let outcome = Outcome {
            ended: Ended::Exited,
            status,
            duration: Duration::from_millis(1),
            usage: Usage::default(),
            executor: "bare".into(),
            selection: None,
            isolation: Arc::new(isolation),
            limits_hit: Vec::new(),
            denials: Vec::new(),
            survivors: Vec::new(),
            reopened: None,
        };
        Ok(Execution::new(RunId::new("bare"), Arc::new(Over { events, outcome })))
    }

    async fn end_session(&self, _: &SessionName) -> exec_core::Result<()> {
        Ok(())
    }

    async fn health(&self) -> exec_core::Result<Health> {
        Ok(Health { warm_cells: 0, sessions: 0 })
    }
}

/// A run that is over before it can be stopped.
#[derive(Debug)]
struct Over {
    events: Mutex<Vec<Event>>,
    outcome: Outcome,
}

#[async_trait]
impl RunHandle for Over {
    async fn next_event(&self) -> Option<Event> {
        self.events.lock().unwrap().pop()
    }
    async fn write_stdin(&self, _: Bytes) -> exec_core::Result<()> {
        Ok(())
    }
    fn close_stdin(&self) {}
    fn signal(&self, _: Signal) {}
    fn resize(&self, _: WindowSize) {}
    fn cancel(&self) {}
    fn kill(&self) {}
    async fn wait(&self) -> exec_core::Result<Outcome> {
        Ok(self.outcome.clone())
    }
}

/// The claims that a case needs.
fn claims(case: &Case) -> Vec<Claim> {
    let claims = case.needs.iter().filter_map(|need| match need {
        Need::Claim(claim) => Some(*claim),
        _ => None,
    });
    claims.collect()
}

struct Setup {
    harness: Harness,
    _runtime: Runtime,
}

fn setup() -> Setup {
    let (runtime, harness) = prepare().unwrap();
    let harness = Harness { requirement: Requirement::parse("podman, docker"), ..harness };
    Setup { harness, _runtime: runtime }
}

fn case_named(name: &str) -> &'static Case {
    let groups = cases::all();
    groups.iter().flat_map(|(_, cases)| *cases).find(|case| case.name == name).unwrap()
}

/// The verdict on a bare spawn that claims everything the case needs.
fn verdict(name: &str) -> Verdict {
    let (case, setup) = (case_named(name), setup());
    setup.harness.run(case, "bare", Bare::that_claims(&claims(case)))
}

#[track_caller]
fn failure(verdict: Verdict) -> String {
    match verdict {
        Verdict::Failed(reason) => reason,
        other => panic!("a bare spawn passed: {other:?}"),
    }
}

#[track_caller]
fn is_detected(name: &str, because: &str) {
    let failure = failure(verdict(name));
    assert!(failure.contains(because), "{failure}");
}

#[test]
fn cases_that_a_bare_spawn_satisfies_pass() {
    for name in ["exit_codes_are_results", "arguments_are_literal", "it_is_writable"] {
        assert_eq!(verdict(name), Verdict::Passed, "{name}");
    }
}

#[test]
fn a_wrong_kind_of_error_is_detected() {
    is_detected("missing_program", "expected an error of kind ProgramNotFound, got Io");
}

#[test]
fn an_ignored_floor_is_detected() {
    is_detected("a_higher_floor_is_refused_before_anything_starts", "but it ran");
}

#[test]
fn a_signal_reported_as_a_code_is_detected() {
    is_detected("death_by_signal_is_a_result", "expected Signalled, got Exited");
}

#[test]
fn a_visible_host_is_detected() {
    is_detected("files_outside_are_hidden", "expected errno ENOENT");
    is_detected("processes_outside_cannot_be_seen", "expected errno ENOENT");
}

#[test]
fn a_reachable_host_is_detected() {
    is_detected("the_hosts_loopback_is_out_of_reach", "expected errno");
    is_detected("abstract_sockets_are_out_of_reach", "expected errno");
}

#[test]
fn shared_namespaces_are_detected() {
    is_detected("namespaces_are_its_own", "is the host's");
}

#[test]
fn surviving_processes_are_detected() {
    let failure = failure(verdict("a_daemon"));
    let ids = failure.strip_prefix("still alive: [").and_then(|rest| rest.strip_suffix(']')).unwrap();
    for id in ids.split(", ") {
        let pid = rustix::process::Pid::from_raw(id.parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
}

fn conclusion(setup: &Setup, subject: Subject, case: &'static Case) -> (Conclusion, String) {
    let cases: &'static [Case] = std::slice::from_ref(case);
    let trials = setup.harness.trials(&[subject], &[("group", cases)]);
    let kind = trials[0].kind().to_owned();
    let arguments = Arguments {
        include_ignored: true,
        // These tests expect failures, which need no output.
        logfile: Some("/dev/null".into()),
        ..Arguments::default()
    };
    (libtest_mimic::run(&arguments, trials), kind)
}

fn missing(engine: &'static str) -> Subject {
    Subject { label: "it".into(), engine, executor: Err("no socket".into()) }
}

#[test]
fn a_missing_engine_is_ignored_with_the_reason() {
    let (conclusion, kind) = conclusion(&setup(), missing("local"), case_named("exit_codes_are_results"));
    assert_eq!((conclusion.num_passed, conclusion.num_failed, conclusion.num_ignored), (0, 0, 1));
    assert_eq!(kind, "missing: no socket");
}

#[test]
fn a_missing_required_engine_fails() {
    let (conclusion, _) = conclusion(&setup(), missing("docker"), case_named("exit_codes_are_results"));
    assert_eq!((conclusion.num_passed, conclusion.num_failed), (0, 1));
}

/// R41: when limits stop holding, their cases are only ignored; this test fails then.
#[test]
fn a_missing_required_claim_fails() {
    let harness =
        Harness { requirement: Requirement::parse("it,it:memory_limit,other:cpu_limit"), ..setup().harness };
    let failed = |executor| {
        let subject = Subject { label: "it".into(), engine: "it", executor };
        let arguments = Arguments { logfile: Some("/dev/null".into()), ..Arguments::default() };
        let conclusion = libtest_mimic::run(&arguments, harness.trials(&[subject], &[]));
        (conclusion.num_passed, conclusion.num_failed)
    };
    assert_eq!(failed(Ok(Bare::that_claims(&[Claim::MemoryLimit]))), (1, 0));
    assert_eq!(failed(Ok(Bare::that_claims(&[Claim::PidsLimit]))), (0, 1));
    assert_eq!(failed(Err("no socket".into())), (0, 1));
}

#[test]
fn an_unclaimed_property_is_ignored_and_never_passes() {
    let subject = Subject { label: "it".into(), engine: "local", executor: Ok(Bare::that_claims(&[])) };
    let (conclusion, kind) = conclusion(&setup(), subject, case_named("a_daemon"));
    assert_eq!((conclusion.num_passed, conclusion.num_ignored), (0, 1));
    assert_eq!(kind, "not claimed: KillsDescendants");
}

/// R5: an exception is shown in the executor's own words.
#[test]
fn an_exception_is_ignored_and_never_passes() {
    let capabilities = Capabilities {
        exceptions: BTreeSet::from([Exception::NoUsage]),
        ..Bare::that_claims(&[]).capabilities().clone()
    };
    for (case, reason) in [
        ("usage_is_reported", "excepted: CPU time and peak memory are not measured"),
        ("the_size_can_change", "it has no terminals"),
        ("sessions_are_apart", "not claimed: PrivateTmp"),
        ("runs_at_the_same_time_are_apart", "it has no sessions"),
    ] {
        let executor: Arc<dyn Executor> = Arc::new(Bare { capabilities: capabilities.clone() });
        let subject = Subject { label: "it".into(), engine: "local", executor: Ok(executor) };
        let (conclusion, kind) = conclusion(&setup(), subject, case_named(case));
        assert_eq!((conclusion.num_passed, conclusion.num_ignored, kind.as_str()), (0, 1, reason));
    }
}

fn run_alone(limit: Duration, run: fn(Ctx) -> crate::CaseFuture) -> Verdict {
    let case = Case { name: "alone", shows: "", needs: &[], run };
    let Setup { harness, _runtime } = setup();
    let harness = Harness { limit, ..harness };
    harness.run(&case, "bare", Bare::that_claims(&[]))
}

#[test]
fn a_case_that_never_ends_fails_by_its_name() {
    let failure = failure(run_alone(Duration::from_millis(200), |_| Box::pin(std::future::pending())));
    assert!(failure.starts_with("alone has not ended"), "{failure}");
}

#[test]
fn a_case_that_panics_fails_alone() {
    let failure = failure(run_alone(LIMIT, |_| Box::pin(async { panic!("on purpose") })));
    assert!(failure.starts_with("alone panicked"), "{failure}");
}

#[test]
fn a_case_that_cannot_be_shown_is_ignored() {
    let skipped = run_alone(LIMIT, |_| Box::pin(async { Err(Skip("no reason".into()).into()) }));
    assert_eq!(skipped, Verdict::Skipped("can't be shown here: no reason".into()));
}

#[test]
fn names_are_unique_within_a_group() {
    for (group, cases) in cases::all() {
        let names: BTreeSet<_> = cases.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), cases.len(), "{group}");
    }
}

/// The table and the documentation of a case must name the same numbers.
#[test]
fn documentation_and_table_name_the_same_numbers() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/cases");
    for (group, cases) in cases::all() {
        let file = dir.join(group.replace("::", "/")).with_extension("rs");
        let text = std::fs::read_to_string(&file).unwrap();
        for case in cases {
            let Some((before, _)) = text.split_once(&format!("async fn {}(", case.name)) else { continue };
            let doc =
                before.lines().rev().take_while(|line| line.starts_with("///")).last().unwrap_or_default();
            let numbers = doc.trim_start_matches("/// ").split(':').next().unwrap_or_default();
            assert_eq!(numbers.replace(", ", " "), case.shows, "{} in {}", case.name, file.display());
        }
    }
}
