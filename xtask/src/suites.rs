//! Runs test executables side by side: most of them spend their time waiting for engines and processes.
//!
//! The output of each is printed as a whole when it ends, so that two never mix.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::case_times::{self, CaseTime};
use crate::steps::OnFailure;
use crate::table;

/// How many of the slowest are shown.
const SLOWEST: usize = 10;

/// How many lines are repeated of a suite that ended before its list of failures.
const LAST_LINES: usize = 40;

/// Something to run that ends with success or failure.
#[derive(Debug)]
pub(crate) struct Suite {
    /// Package and test, and the user.
    pub(crate) name: String,
    pub(crate) command: Command,
}

/// How one ended.
#[derive(Debug)]
struct Ran {
    name: String,
    took: Duration,
    cases: Vec<CaseTime>,
    failure: Option<String>,
    /// Its output about failures, for the end of the output.
    details: String,
}

/// Runs them in order, this many at once, and prints the slowest.
///
/// # Errors
///
/// Names the failed ones. After a failure no more are started, unless all are wanted.
pub(crate) fn run(suites: Vec<Suite>, at_once: usize, on_failure: OnFailure) -> Result<()> {
    let waiting = Mutex::new(VecDeque::from(suites));
    let done = Mutex::new(Vec::<Ran>::new());
    let next = || {
        let is_over = on_failure == OnFailure::Stop && locked(&done).iter().any(|ran| ran.failure.is_some());
        if is_over { None } else { locked(&waiting).pop_front() }
    };
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(suite) = next() {
                    let ran = carry_out(suite);
                    locked(&done).push(ran);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    print!("{}", slowest(&done));
    for ran in done.iter().filter(|ran| ran.failure.is_some()) {
        print!("-- {}, again:\n{}", ran.name, ran.details);
    }
    let failed: Vec<&str> =
        done.iter().filter(|ran| ran.failure.is_some()).map(|ran| ran.name.as_str()).collect();
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn carry_out(Suite { name, command }: Suite) -> Ran {
    let start = Instant::now();
    let (text, failure) = match output(command) {
        Ok((text, status)) if status.success() => (text, None),
        Ok((text, status)) => (text, Some(status.to_string())),
        Err(error) => (String::new(), Some(format!("{error:#}"))),
    };
    let took = start.elapsed();
    let (text, cases) = case_times::split(&text);
    let end = failure.as_deref().unwrap_or("passed");
    // A closed output has no reader.
    let _ =
        writeln!(io::stdout().lock(), "-- {name}\n{text}-- {name}: {end} ({:.1} s)\n", took.as_secs_f64());
    let details = failure.as_ref().map(|_| details(&text)).unwrap_or_default();
    Ran { name, took, cases, failure, details }
}

/// A suite's report of its failures after the last case, or its last lines if it has no such report.
fn details(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.len().saturating_sub(LAST_LINES);
    let start = lines.iter().position(|line| *line == "failures:").unwrap_or(end);
    lines[start..].iter().flat_map(|line| [line, "\n"]).collect()
}

/// Its output on both streams, in order, and how it ended.
fn output(mut command: Command) -> Result<(String, ExitStatus)> {
    let (mut reader, writer) = io::pipe().context("cannot make a pipe")?;
    command.stdout(writer.try_clone().context("cannot make a pipe")?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    // It holds our ends of the pipe.
    drop(command);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).context("cannot read what it printed")?;
    let status = child.wait().context("cannot wait for it")?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), status))
}

/// The slowest, suites first.
fn slowest(done: &[Ran]) -> String {
    let suites = done.iter().map(|ran| (ran.took, ran.name.clone()));
    let cases = done
        .iter()
        .flat_map(|ran| ran.cases.iter().map(|case| (case.took, format!("{} {}", ran.name, case.name))));
    let text = |what: &str, times: Vec<(Duration, String)>| {
        let count = times.len();
        let rows =
            longest(times).into_iter().map(|(took, name)| [format!("{:.1} s", took.as_secs_f64()), name]);
        format!("the slowest of {count} {what}:\n{}\n", table::layout(&rows.collect::<Vec<_>>()))
    };
    text("suites", suites.collect()) + &text("cases", cases.collect())
}

fn longest(mut times: Vec<(Duration, String)>) -> Vec<(Duration, String)> {
    times.sort_by_key(|(took, _)| Reverse(*took));
    times.truncate(SLOWEST);
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(name: &str, script: &str) -> Suite {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Suite { name: name.into(), command }
    }

    #[test]
    fn a_failure_is_named_and_ends_the_series() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("ran");
        let suites = || {
            let touch = format!("touch {}", mark.display());
            vec![suite("good", "true"), suite("bad", "echo out; echo err >&2; exit 3"), suite("last", &touch)]
        };
        let error = run(suites(), 1, OnFailure::Stop).unwrap_err().to_string();
        assert_eq!(error, "failed: bad");
        assert!(!mark.exists());
        run(suites(), 1, OnFailure::KeepGoing).unwrap_err();
        assert!(mark.exists());
    }

    #[test]
    fn failures_are_shown_without_passed_cases() {
        assert_eq!(details("test a ... ok\ntest b ... FAILED\n\nfailures:\n\nwhy\n"), "failures:\n\nwhy\n");
        assert_eq!(details("test a ... ok\naborted\n"), "test a ... ok\naborted\n");
    }

    #[test]
    fn both_streams_are_kept_in_order() {
        let (text, status) = output(suite("both", "echo out; echo err >&2; echo end").command).unwrap();
        assert_eq!((text.as_str(), status.success()), ("out\nerr\nend\n", true));
    }

    #[test]
    fn suites_run_at_the_same_time() {
        let dir = tempfile::tempdir().unwrap();
        let meet = |own: &str, other: &str| {
            let path = |name: &str| dir.path().join(name).display().to_string();
            format!("touch {}; until test -e {}; do sleep 0.01; done", path(own), path(other))
        };
        run(vec![suite("a", &meet("a", "b")), suite("b", &meet("b", "a"))], 2, OnFailure::Stop).unwrap();
    }
}
