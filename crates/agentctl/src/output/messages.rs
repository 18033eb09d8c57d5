//! What agentctl itself says about a run, as lines for standard error. Pure: what happened in, words out.

use std::fmt::Display;
use std::path::Path;

use exec_config::Entry;
use exec_core::{
    Capabilities, Ended, Error, Held, Isolation, IsolationLevel, LimitReport, Network, Outcome, Plan,
    Selection, Signal,
};

/// Who speaks.
const US: &str = "agentctl:";

/// How much is said about what did not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// That it did not.
    Brief,
    /// Why, too.
    Full,
}

/// An error and what to do about it.
pub(crate) fn error(error: &Error) -> String {
    match error.remedy() {
        Some(remedy) => format!("{US} {error}\n  try: {remedy}"),
        None => format!("{US} {error}"),
    }
}

/// Something to know that stops nothing.
pub(crate) fn warning(text: &str) -> String {
    format!("{US} WARN {text}")
}

/// A file counts from now on, and what that lets happen.
pub(crate) fn trusted(path: &Path, loosens: &[Entry]) -> String {
    let mut lines = vec![format!("{US} {} is trusted, as long as it stays as it is", path.display())];
    lines.extend(loosens.iter().map(|entry| format!("  it loosens {}: {}", entry.key(), entry.value())));
    lines.join("\n")
}

/// A file does not count any more; `was_trusted` if it did.
pub(crate) fn untrusted(path: &Path, was_trusted: bool) -> String {
    let path = path.display();
    if was_trusted {
        format!("{US} {path} is not trusted any more")
    } else {
        format!("{US} {path} was not trusted")
    }
}

/// A file to begin with.
pub(crate) fn begun(path: &Path) -> String {
    format!("{US} wrote {}: every key is explained in it and none is set yet", path.display())
}

/// Output that could not be written.
pub(crate) fn output_error(error: &std::io::Error) -> String {
    format!(
        "{US} can't write the command's output: {error}\n  try: check where it goes; the run was cancelled"
    )
}

/// Before a run: what is weaker than it should be.
pub(crate) fn before(capabilities: &Capabilities, selection: &Selection) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, reason) in &selection.passed_over {
        lines.push(format!("{US} WARN {name} is not used: {reason}"));
    }
    if capabilities.level < IsolationLevel::Namespaces {
        lines.push(format!(
            "{US} WARN weak isolation ({}): no namespaces; --min-isolation namespaces refuses that, --quiet hides this",
            capabilities.level
        ));
    }
    lines
}

/// After a run: what ended it, and what did not hold.
pub(crate) fn after(outcome: &Outcome, detail: Detail) -> Vec<String> {
    let mut lines: Vec<String> =
        outcome.limits_hit.iter().map(|hit| format!("{US} {}", hit.message)).collect();
    lines.extend(ending(outcome).map(|what| format!("{US} {what}")));
    lines.extend(outcome.denials.iter().map(|denial| format!("{US} denied: {}", denial.message)));
    if !outcome.survivors.is_empty() {
        let pids: Vec<String> = outcome.survivors.iter().map(u32::to_string).collect();
        lines.push(format!("{US} WARN these processes could not be killed: {}", pids.join(", ")));
    }
    lines.extend(gaps(&outcome.isolation, detail).map(|gaps| format!("{US} WARN {gaps}")));
    lines
}

/// What the defaults would have had and this run did not. Limits that an ordinary user can't have are one short line:
/// it comes with every run of theirs.
fn gaps(isolation: &Isolation, detail: Detail) -> Option<String> {
    let degraded = &isolation.degraded;
    let limits: Vec<String> = isolation.limits.iter().filter_map(limit_gap).collect();
    let brief =
        detail == Detail::Brief && isolation.level >= IsolationLevel::Namespaces && !limits.is_empty();
    match (degraded.is_empty(), brief) {
        (true, _) => None,
        (false, true) => {
            Some(format!("limits that do not hold here: {}; --verbose says why", limits.join(", ")))
        }
        (false, false) => Some(format!("weaker than the defaults: {}", degraded.join("; "))),
    }
}

fn limit_gap(report: &LimitReport) -> Option<String> {
    match report.held {
        Held::Enforced { .. } => None,
        Held::PerProcess { .. } => Some(format!("{} (for each process only)", report.limit)),
        Held::NotEnforced { .. } => Some(report.limit.to_string()),
    }
}

/// What ended it, where neither the command nor a limit already says so.
fn ending(outcome: &Outcome) -> Option<String> {
    match (outcome.ended, outcome.signal()) {
        // Who pressed Ctrl-C knows.
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

/// The line before an interactive shell.
pub(crate) fn shell_opening(name: &str, capabilities: &Capabilities, network: Option<Network>) -> String {
    format!(
        "{US} a shell in the sandbox `{name}` (isolation {}, network {}); leave it with `exit` or Ctrl-D",
        capabilities.level,
        network.unwrap_or(Network::None)
    )
}

/// What a run is about to use, for those who want to know (R64).
pub(crate) fn banner(name: &str, capabilities: &Capabilities, plan: &Plan) -> String {
    let limits = &plan.limits;
    format!(
        "{US} sandbox {name}, isolation {},{} network {}, memory {}, cpus {}, processes {}, time {}, workspace {}",
        capabilities.level,
        if capabilities.images {
            format!(" image {},", plan.image.as_deref().unwrap_or("host"))
        } else {
            String::new()
        },
        plan.network.unwrap_or(Network::None),
        or_unlimited(limits.memory),
        or_unlimited(limits.cpus),
        or_unlimited(limits.pids),
        or_unlimited(limits.timeout.map(humantime::format_duration)),
        plan.workspace.display(),
    )
}

fn or_unlimited(limit: Option<impl Display>) -> String {
    limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::time::Duration;

    use exec_core::{Denial, ErrorKind, LimitHit, LimitName, Status, Usage};

    use super::*;

    pub(crate) fn outcome(ended: Ended, status: Status) -> Outcome {
        let isolation = Isolation {
            level: IsolationLevel::Namespaces,
            claims: BTreeSet::new(),
            uid: 0,
            gid: 0,
            landlock_abi: 0,
            image: None,
            limits: Vec::new(),
            degraded: Vec::new(),
        };
        Outcome {
            ended,
            status,
            duration: Duration::from_millis(5),
            usage: Usage::default(),
            executor: "local".into(),
            isolation: Arc::new(isolation),
            limits_hit: Vec::new(),
            denials: Vec::new(),
            survivors: Vec::new(),
        }
    }

    #[test]
    fn a_run_that_ends_by_itself_is_not_talked_about() {
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
        insta::assert_snapshot!(after(&outcome, Detail::Brief).join("\n"), @r"
        agentctl: timed out after 5m; raise it with --timeout
        agentctl: denied: example.org:443
        agentctl: WARN these processes could not be killed: 7, 9
        ");
        let signalled = self::outcome(Ended::Signalled, Status::Signal(Signal::TERM));
        assert_eq!(after(&signalled, Detail::Brief), ["agentctl: the command was ended by SIGTERM"]);
    }

    /// R41
    #[test]
    fn gaps_are_short_unless_details_are_wanted() {
        let isolation = Isolation {
            limits: vec![
                LimitReport {
                    limit: LimitName::Memory,
                    asked: "2 GiB".into(),
                    held: Held::PerProcess { by: "RLIMIT_DATA".into() },
                },
                LimitReport {
                    limit: LimitName::Cpus,
                    asked: "2".into(),
                    held: Held::NotEnforced { why: "no control group".into() },
                },
            ],
            degraded: vec!["the first reason".into(), "the second".into()],
            ..(*outcome(Ended::Exited, Status::Code(0)).isolation).clone()
        };
        insta::assert_snapshot!(gaps(&isolation, Detail::Brief).unwrap(), @"limits that do not hold here: memory (for each process only), CPUs; --verbose says why");
        let full = "weaker than the defaults: the first reason; the second";
        assert_eq!(gaps(&isolation, Detail::Full).as_deref(), Some(full));
        let weak = Isolation { level: IsolationLevel::Subreaper, ..isolation };
        assert_eq!(gaps(&weak, Detail::Brief).as_deref(), Some(full));
    }

    #[test]
    fn weak_walls_are_named_before_the_run() {
        let mut capabilities = Capabilities {
            level: IsolationLevel::Subreaper,
            claims: BTreeSet::new(),
            tty: true,
            sessions: true,
            images: false,
            exceptions: BTreeSet::new(),
        };
        let selection = Selection { name: "local".into(), passed_over: Vec::new() };
        assert!(
            before(&capabilities, &selection)[0].starts_with("agentctl: WARN weak isolation (subreaper)")
        );
        capabilities.level = IsolationLevel::Namespaces;
        assert!(before(&capabilities, &selection).is_empty());
    }

    #[test]
    fn an_error_comes_with_its_remedy() {
        let failure =
            Error::new(ErrorKind::InvalidInput, "run", "no command was given").with_remedy("name one");
        assert_eq!(error(&failure), "agentctl: no command was given\n  try: name one");
    }
}
