//! Messages after a run. Pure: events in, words out.

use std::path::Path;

use exec_config::Entry;
use exec_core::{Ended, Held, Isolation, IsolationLevel, LimitHit, LimitReport, Outcome, Signal};

use super::line::Line;
use super::spelled;

/// How much to print about what did not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Only the fact.
    Brief,
    /// The reasons too.
    Full,
}

/// A file is trusted from now on, and what it then allows.
pub(crate) fn trusted(path: &Path, loosens: &[Entry]) -> Line {
    let mut lines = vec![format!("{} is trusted until it changes", path.display())];
    lines.extend(loosens.iter().map(|entry| format!("  it loosens {}: {}", entry.key(), entry.value())));
    Line::info(lines.join("\n"))
}

/// A file is not trusted any more; `was_trusted` if it was before.
pub(crate) fn untrusted(path: &Path, was_trusted: bool) -> Line {
    let path = path.display();
    Line::info(if was_trusted {
        format!("{path} is not trusted any more")
    } else {
        format!("{path} was not trusted")
    })
}

/// A newly written configuration file.
pub(crate) fn begun(path: &Path) -> Line {
    Line::info(format!("wrote {}: every key is explained in it and none is set yet", path.display()))
}

/// Output that could not be written.
pub(crate) fn output_error(error: &std::io::Error) -> Line {
    Line::error(format!("can't write the command's output: {error}"))
        .with_remedy("check where it goes; the run was cancelled")
}

/// After a run: what ended it, and what did not hold.
pub(crate) fn after(outcome: &Outcome, detail: Detail) -> Vec<Line> {
    let limit = |hit: &LimitHit| Line::info(format!("{}; {}", hit.message, spelled(&hit.remedy)));
    let mut lines: Vec<Line> = outcome.limits_hit.iter().map(limit).collect();
    lines.extend(ending(outcome).map(Line::info));
    lines.extend(outcome.denials.iter().map(|denial| Line::info(format!("denied: {}", denial.message))));
    if !outcome.survivors.is_empty() {
        let pids: Vec<String> = outcome.survivors.iter().map(u32::to_string).collect();
        lines.push(Line::warn(format!("these processes could not be killed: {}", pids.join(", "))));
    }
    lines.extend(gaps(&outcome.isolation, detail).map(Line::warn));
    lines
}

/// The gap between the defaults and this run. Limits that an ordinary user can't have are one short line,
/// because it comes with every run of theirs.
fn gaps(isolation: &Isolation, detail: Detail) -> Option<String> {
    let degraded = &isolation.degraded;
    let limits: Vec<String> = isolation.limits.iter().filter_map(limit_gap).collect();
    let brief =
        detail == Detail::Brief && isolation.level >= IsolationLevel::Namespaces && !limits.is_empty();
    match (degraded.is_empty(), brief) {
        (true, _) => None,
        (false, true) => {
            Some(format!("limits that do not hold here: {}; --verbose gives the reasons", limits.join(", ")))
        }
        (false, false) => Some(format!("weaker than the defaults: {}", degraded.join("; "))),
    }
}

fn limit_gap(report: &LimitReport) -> Option<String> {
    match report.held {
        Held::Enforced { .. } => None,
        Held::InPart { .. } => Some(format!("{} (holds in part)", report.limit)),
        Held::NotEnforced { .. } => Some(report.limit.to_string()),
    }
}

/// What ended it, if neither the command nor a limit already says so.
fn ending(outcome: &Outcome) -> Option<String> {
    match (outcome.ended, outcome.signal()) {
        // A user who pressed Ctrl-C knows.
        (Ended::Signalled, Some(signal)) if signal != Signal::INT => {
            Some(format!("the command was ended by {signal}"))
        }
        (Ended::TimedOut | Ended::OutOfMemory | Ended::OutputLimit, _) if outcome.limits_hit.is_empty() => {
            let what = match outcome.ended {
                Ended::TimedOut => "timed out (limit --timeout or --idle-timeout)",
                Ended::OutOfMemory => "out of memory (limit --memory)",
                _ => "too much output (limit --max-output)",
            };
            Some(what.to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use exec_core::{Denial, LimitName, Status, Usage};

    use super::super::line::Voice;
    use super::*;

    pub(crate) fn outcome(ended: Ended, status: Status) -> Outcome {
        Outcome {
            ended,
            status,
            duration: Duration::from_millis(5),
            usage: Usage::default(),
            executor: "local".into(),
            selection: None,
            isolation: Arc::new(Isolation::new(IsolationLevel::Namespaces)),
            limits_hit: Vec::new(),
            denials: Vec::new(),
            survivors: Vec::new(),
            reopened: None,
        }
    }

    #[test]
    fn a_run_that_ends_by_itself_needs_no_message() {
        assert!(after(&outcome(Ended::Exited, Status::Code(3)), Detail::Full).is_empty());
        assert!(after(&outcome(Ended::Signalled, Status::Signal(Signal::INT)), Detail::Full).is_empty());
        assert!(after(&outcome(Ended::Cancelled, Status::Signal(Signal::KILL)), Detail::Full).is_empty());
    }

    /// R42
    #[test]
    fn everything_else_is_a_line_each() {
        let mut outcome = outcome(Ended::TimedOut, Status::Signal(Signal::KILL));
        outcome.limits_hit = vec![LimitHit::new(LimitName::WallTime, "timed out after 5m")];
        outcome.denials = vec![Denial { message: "example.org:443".into() }];
        outcome.survivors = vec![7, 9];
        let said = |outcome: &Outcome| -> Vec<String> {
            let lines = after(outcome, Detail::Brief);
            lines.iter().map(|line| Voice::Person.render(line, SystemTime::UNIX_EPOCH)).collect()
        };
        insta::assert_snapshot!(said(&outcome).join("\n"), @r"
        agentctl: timed out after 5m; raise --timeout
        agentctl: denied: example.org:443
        agentctl: WARN these processes could not be killed: 7, 9
        ");
        let signalled = self::outcome(Ended::Signalled, Status::Signal(Signal::TERM));
        assert_eq!(said(&signalled), ["agentctl: the command was ended by SIGTERM"]);
    }

    /// R41
    #[test]
    fn gaps_are_short_unless_details_are_wanted() {
        let isolation = Isolation {
            limits: vec![
                LimitReport {
                    limit: LimitName::Memory,
                    asked: "2 GiB".into(),
                    held: Held::InPart { by: "RLIMIT_DATA".into(), gap: "the rest".into() },
                },
                LimitReport {
                    limit: LimitName::Cpus,
                    asked: "2".into(),
                    held: Held::NotEnforced { why: "no control group".into() },
                },
            ],
            degraded: vec!["the first reason".into(), "the second".into()],
            ..Isolation::new(IsolationLevel::Namespaces)
        };
        insta::assert_snapshot!(gaps(&isolation, Detail::Brief).unwrap(), @"limits that do not hold here: memory (holds in part), CPUs; --verbose gives the reasons");
        let full = "weaker than the defaults: the first reason; the second";
        assert_eq!(gaps(&isolation, Detail::Full).as_deref(), Some(full));
        let weak = Isolation { level: IsolationLevel::Subreaper, ..isolation };
        assert_eq!(gaps(&weak, Detail::Brief).as_deref(), Some(full));
    }
}
