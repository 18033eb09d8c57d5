//! Runs named steps one after the other and records how each ended. Does not know what the steps do.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::table;

/// How a failed step affects those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Stop,
    KeepGoing,
}

/// How a step that did not fail ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// Not done, and why.
    Skipped(String),
}

/// The steps so far.
#[derive(Debug)]
pub(crate) struct Steps {
    on_failure: OnFailure,
    done: Vec<Done>,
}

#[derive(Debug)]
struct Done {
    name: Cow<'static, str>,
    end: End,
    took: Duration,
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Passed,
    Skipped(String),
    Failed(String),
    NotRun,
}

impl Steps {
    pub(crate) fn new(on_failure: OnFailure) -> Self {
        Self { on_failure, done: Vec::new() }
    }

    /// Runs one step, unless an earlier failure ended the series.
    pub(crate) fn step(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        work: impl FnOnce() -> Result<Outcome>,
    ) {
        let name = name.into();
        if self.on_failure == OnFailure::Stop && self.failed() > 0 {
            self.done.push(Done { name, end: End::NotRun, took: Duration::ZERO });
            return;
        }
        println!("== {name}");
        let start = Instant::now();
        let end = match work() {
            Ok(Outcome::Passed) => End::Passed,
            Ok(Outcome::Skipped(why)) => End::Skipped(why),
            Err(error) => End::Failed(format!("{error:#}")),
        };
        let done = Done { name, end, took: start.elapsed() };
        println!("== {}: {} ({})\n", done.name, done.end, seconds(done.took));
        self.done.push(done);
    }

    /// Records a step that was skipped on purpose.
    pub(crate) fn leave_out(&mut self, name: &'static str, why: &str) {
        self.done.push(Done { name: name.into(), end: End::Skipped(why.to_owned()), took: Duration::ZERO });
    }

    /// How many steps failed.
    pub(crate) fn failed(&self) -> usize {
        self.done.iter().filter(|done| matches!(done.end, End::Failed(_))).count()
    }

    /// All steps as a table: name, time, how it ended.
    pub(crate) fn summary(&self) -> String {
        let head = ["step", "time", "result"].map(str::to_owned);
        let rows =
            self.done.iter().map(|done| [done.name.to_string(), seconds(done.took), done.end.to_string()]);
        table::layout(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => write!(f, "passed"),
            Self::Skipped(why) => write!(f, "skipped: {why}"),
            Self::Failed(why) => write!(f, "FAILED: {why}"),
            Self::NotRun => write!(f, "not run"),
        }
    }
}

fn seconds(took: Duration) -> String {
    if took.is_zero() { "-".to_owned() } else { format!("{:.1} s", took.as_secs_f64()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(on_failure: OnFailure) -> Steps {
        let mut steps = Steps::new(on_failure);
        steps.step("first", || Ok(Outcome::Passed));
        steps.step("second", || anyhow::bail!("broken"));
        steps.step("third", || Ok(Outcome::Skipped("no engine".into())));
        steps
    }

    fn ends(steps: &Steps) -> Vec<String> {
        steps.done.iter().map(|done| done.end.to_string()).collect()
    }

    #[test]
    fn the_first_failure_ends_the_series() {
        let steps = three(OnFailure::Stop);
        assert_eq!(ends(&steps), ["passed", "FAILED: broken", "not run"]);
        assert_eq!(steps.failed(), 1);
    }

    #[test]
    fn keep_going_runs_the_rest() {
        let steps = three(OnFailure::KeepGoing);
        assert_eq!(ends(&steps), ["passed", "FAILED: broken", "skipped: no engine"]);
    }

    #[test]
    fn skipped_steps_are_in_the_table() {
        let mut steps = Steps::new(OnFailure::Stop);
        steps.leave_out("clippy", "--fast");
        assert_eq!(steps.summary(), "step    time  result\nclippy  -     skipped: --fast\n");
    }
}
