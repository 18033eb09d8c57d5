//! Runs every case on every executor under test, as tests that show what ran and what did not.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use exec_core::Executor;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tokio::runtime::{Handle, Runtime};

use crate::cases::Group;
use crate::probe::Probe;
use crate::subject::{Requirement, claim_name};
use crate::took::Took;
use crate::{Case, Ctx, Skip, Subject, cases, orchestrator, reexec};

/// No case takes long, not even one with a hundred containers on a busy machine; one that takes this long
/// hangs.
const LIMIT: Duration = Duration::from_secs(300);

/// Cases may block a thread of the runtime (a control outside, a scan of `/proc`); others must continue.
const THREADS: usize = 8;

/// The `main` of a backend's conformance test: runs every case on every executor that `subjects` makes.
pub fn main(subjects: impl AsyncFnOnce() -> Vec<Subject>) -> ExitCode {
    if let Err(error) = reexec::with_planted_environment().and_then(|()| reexec::leak_a_descriptor()) {
        return fail(&format!("can't plant what must not be seen: {error}"));
    }
    // Before anything is written to disk, because a process with a task is killed.
    if let Some(task) = orchestrator::Task::from_env() {
        return match runtime() {
            Ok(runtime) => runtime.block_on(async { task.carry_out(&subjects().await).await }),
            Err(_) => ExitCode::FAILURE,
        };
    }
    let arguments = Arguments::from_args();
    let (runtime, harness) = match prepare() {
        Ok(prepared) => prepared,
        Err(error) => return fail(&format!("can't prepare: {error}")),
    };
    let subjects = runtime.block_on(subjects());
    let conclusion = libtest_mimic::run(&arguments, harness.trials(&subjects, &cases::all()));
    end(runtime, subjects);
    conclusion.exit_code()
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()
}

fn prepare() -> io::Result<(Runtime, Harness)> {
    let runtime = runtime()?;
    let harness = Harness {
        runtime: runtime.handle().clone(),
        probe: Probe::install()?,
        requirement: Requirement::from_env(),
        limit: LIMIT,
    };
    Ok((runtime, harness))
}

/// Turns cases into trials.
#[derive(Debug, Clone)]
struct Harness {
    runtime: Handle,
    probe: Probe,
    requirement: Requirement,
    limit: Duration,
}

impl Harness {
    /// One trial for every case and subject, named `label::group::case`, and one for each required claim.
    fn trials(&self, subjects: &[Subject], groups: &[Group]) -> Vec<Trial> {
        let mut trials = Vec::new();
        for subject in subjects {
            for (group, cases) in groups {
                for case in *cases {
                    trials.push(self.trial(
                        format!("{}::{group}::{}", subject.label, case.name),
                        subject,
                        case,
                    ));
                }
            }
            trials.extend(self.requirement.claims_of(subject.engine).map(|claim| required(subject, claim)));
        }
        trials
    }

    fn trial(&self, name: String, subject: &Subject, case: &'static Case) -> Trial {
        let executor = match &subject.executor {
            Ok(executor) => Arc::clone(executor),
            Err(reason) if self.requirement.names(subject.engine) => {
                let reason = format!("{} is required and missing: {reason}", subject.engine);
                return Trial::test(name, move || Err(Failed::from(reason))).with_kind(case.shows);
            }
            Err(reason) => return ignored(name, format!("missing: {reason}")),
        };
        if let Some(reason) = case.needs.iter().find_map(|need| need.missing(executor.capabilities())) {
            return ignored(name, reason);
        }
        let (harness, label) = (self.clone(), subject.label.clone());
        let took = Took::of(&name);
        Trial::ignorable_test(name, move || took.say(|| harness.run(case, &label, executor)).into())
            .with_kind(case.shows)
    }

    fn run(&self, case: &Case, label: &str, executor: Arc<dyn Executor>) -> Verdict {
        let ctx = match Ctx::new(label, executor, &self.probe) {
            Ok(ctx) => ctx,
            Err(error) => return Verdict::Failed(format!("can't prepare the case: {error:#}")),
        };
        // A separate task turns a panic into a failure of this case alone.
        let mut task = self.runtime.spawn((case.run)(ctx));
        let ended = self.runtime.block_on(async { tokio::time::timeout(self.limit, &mut task).await });
        match ended {
            Ok(Ok(Ok(()))) => Verdict::Passed,
            Ok(Ok(Err(error))) => match error.downcast_ref::<Skip>() {
                Some(skip) => Verdict::Skipped(skip.to_string()),
                None => Verdict::Failed(format!("{error:#}")),
            },
            Ok(Err(error)) => Verdict::Failed(format!("{} panicked: {error}", case.name)),
            Err(_) => {
                task.abort();
                Verdict::Failed(format!("{} has not ended after {:?}", case.name, self.limit))
            }
        }
    }
}

/// The result of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
}

impl From<Verdict> for Result<Completion, Failed> {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Passed => Ok(Completion::Completed),
            Verdict::Skipped(reason) => Ok(Completion::ignored_with(reason)),
            Verdict::Failed(reason) => Err(reason.into()),
        }
    }
}

/// A case without its claim is ignored; if the claim is required, this trial fails.
fn required(subject: &Subject, claim: &str) -> Trial {
    let made = match &subject.executor {
        Ok(executor) if executor.capabilities().claims.iter().any(|made| claim_name(*made) == claim) => {
            Ok(Completion::Completed)
        }
        Ok(_) => Err(Failed::from(format!("{claim} is required and not claimed by {}", subject.label))),
        Err(reason) => {
            Err(Failed::from(format!("{claim} is required and {} is missing: {reason}", subject.label)))
        }
    };
    Trial::ignorable_test(format!("{}::required::{claim}", subject.label), move || made)
}

/// Shown as ignored under any arguments: a case that can't run must not pass.
fn ignored(name: String, reason: String) -> Trial {
    let kind = reason.clone();
    Trial::ignorable_test(name, move || Ok(Completion::ignored_with(&reason)))
        .with_kind(kind)
        .with_ignored_flag(true)
}

/// Drops the executors inside the runtime they were made in, before the runtime.
fn end(runtime: Runtime, subjects: Vec<Subject>) {
    runtime.block_on(async { drop(subjects) });
    runtime.shutdown_timeout(Duration::from_secs(10));
}

/// A test program that can't start reports a failed test.
fn fail(reason: &str) -> ExitCode {
    let reason = reason.to_owned();
    let trial = Trial::test("prepare", move || Err(Failed::from(reason)));
    libtest_mimic::run(&Arguments::default(), vec![trial]).exit_code()
}

#[cfg(test)]
mod tests;
