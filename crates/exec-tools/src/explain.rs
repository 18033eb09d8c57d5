//! How a run ended and which restriction it hit, each as a sentence with the option that lifts it. Pure.

use std::time::Duration;

use exec_core::{Change, Ended, ExecResult, Network, Outcome, Plan, Remedy, Status};

use crate::spelling::spelled;

/// The first line of an answer.
pub(crate) fn ending(outcome: &Outcome) -> String {
    let status = match outcome.status {
        Status::Code(code) => format!("exit code {code}"),
        Status::Signal(signal) => format!("ended by {signal}"),
    };
    let what = match outcome.ended {
        Ended::Exited | Ended::Signalled => status,
        Ended::TimedOut => "timed out".to_owned(),
        Ended::Cancelled => "stopped".to_owned(),
        Ended::OutOfMemory => "out of memory".to_owned(),
        Ended::OutputLimit => "stopped: too much output".to_owned(),
    };
    format!("{what} after {}", seconds(outcome.duration))
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(10) {
        format!("{:.2} s", time.as_secs_f64())
    } else {
        format!("{:.0} s", time.as_secs_f64())
    }
}

/// Further notes: limits hit and access denied.
pub(crate) fn notes(outcome: &Outcome) -> Vec<String> {
    let limit = |what: &str, remedy: &Remedy| format!("limit: {what}; {}", spelled(remedy));
    let limits = outcome.limits_hit.iter().map(|hit| limit(&hit.message, &hit.remedy));
    let denials = outcome.denials.iter().map(|denial| format!("denied: {}", denial.message));
    let survivors = (!outcome.survivors.is_empty())
        .then(|| format!("{} processes could not be killed", outcome.survivors.len()));
    let memory = (outcome.ended == Ended::OutOfMemory && outcome.limits_hit.is_empty())
        .then(|| limit("the memory is used up", &Change::raise("memory").into()));
    let reopened = outcome.reopened.as_ref().map(|why| {
        format!("the sandbox was opened anew before this command, because {why}; background processes and files outside the workspace are gone")
    });
    limits.chain(denials).chain(memory).chain(survivors).chain(reopened).collect()
}

/// Phrases that programs print when they hit a restriction, and the hint for it.
struct Wall {
    phrases: &'static [&'static str],
    applies: fn(&Plan) -> bool,
    says: &'static str,
    remedy: fn() -> Remedy,
}

const WALLS: &[Wall] = &[
    Wall {
        phrases: &[
            "could not resolve host",
            "temporary failure in name resolution",
            "network is unreachable",
            "failed to lookup address",
            "name or service not known",
            "getaddrinfo",
        ],
        applies: |plan| plan.network.unwrap_or(Network::None) == Network::None,
        says: "this sandbox has no network",
        remedy: || Change::set("network", "bridge").into(),
    },
    Wall {
        phrases: &["read-only file system"],
        applies: |_| true,
        says: "that place is read-only in this sandbox",
        remedy: || {
            let writable = Change::give("mounts").with_purpose("to make more writable");
            Remedy::from("write to the workspace or /tmp").or(Change::give("write_paths")).or(writable)
        },
    },
    Wall {
        phrases: &["no space left on device"],
        applies: |_| true,
        says: "if that was in /tmp or $HOME, they are small here",
        remedy: || Change::raise("tmp_size").into(),
    },
    Wall {
        phrases: &["resource temporarily unavailable", "cannot fork", "can't fork"],
        applies: |plan| plan.limits.pids.is_some(),
        says: "the number of processes is limited here",
        remedy: || Change::raise("pids").into(),
    },
    Wall {
        phrases: &["too many open files"],
        applies: |_| true,
        says: "the number of open files is limited here",
        remedy: || Change::raise("open_files").into(),
    },
];

/// Guesses from its output which restriction a failed command hit. The hint is not proven, so it starts with
/// "perhaps".
pub(crate) fn guess(result: &ExecResult, plan: &Plan) -> Option<String> {
    if result.success() {
        return None;
    }
    let printed = [result.stderr.tail(), result.stderr.head(), result.stdout.tail(), result.stdout.head()];
    let printed = printed.map(|bytes| String::from_utf8_lossy(bytes).to_lowercase());
    let says =
        |wall: &&Wall| wall.phrases.iter().any(|phrase| printed.iter().any(|text| text.contains(phrase)));
    let hit = WALLS.iter().filter(says).find(|wall| (wall.applies)(plan))?;
    Some(format!("perhaps: {}; {}", hit.says, spelled(&(hit.remedy)())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use exec_core::{
        Capture, Cmd, Collector, ExecOpts, Isolation, IsolationLevel, LimitHit, LimitName, OwnPlaces, Signal,
        Usage,
    };

    use super::*;

    fn result(code: i32, stderr: &str) -> ExecResult {
        let outcome = Outcome {
            ended: Ended::Exited,
            status: Status::Code(code),
            duration: Duration::from_millis(1500),
            usage: Usage::default(),
            executor: "local".into(),
            selection: None,
            isolation: Arc::new(Isolation::new(IsolationLevel::Namespaces)),
            limits_hit: Vec::new(),
            denials: Vec::new(),
            survivors: Vec::new(),
            reopened: None,
        };
        let mut collector = Collector::new(&Capture::default()).unwrap();
        collector.push(stderr.as_bytes()).unwrap();
        ExecResult { outcome, stdout: exec_core::Captured::default(), stderr: collector.finish() }
    }

    fn plan(network: Network) -> Plan {
        let dir = tempfile::tempdir().unwrap();
        let opts = ExecOpts::in_workspace(dir.path()).with_network(network);
        Plan::resolve(&Cmd::new("true"), &opts, [], &OwnPlaces::default()).unwrap()
    }

    /// R33: a restriction is guessed only where one exists, and only for a failed command.
    #[test]
    fn a_restriction_is_named_with_the_option_that_lifts_it() {
        let failed = result(6, "curl: (6) Could not resolve host: example.org");
        let guess = |result: &ExecResult, network| super::guess(result, &plan(network));
        assert!(
            guess(&failed, Network::None)
                .is_some_and(|says| says.contains("set the option `network` to `bridge`"))
        );
        assert_eq!(guess(&failed, Network::Bridge), None);
        assert_eq!(guess(&result(0, "Could not resolve host"), Network::None), None);
        assert_eq!(guess(&result(1, "assertion failed"), Network::None), None);
    }

    /// R42
    #[test]
    fn the_ending_and_the_limit_are_a_sentence_each() {
        let mut outcome = result(3, "").outcome;
        assert_eq!(ending(&outcome), "exit code 3 after 1.50 s");
        outcome.status = Status::Signal(Signal::KILL);
        outcome.ended = Ended::Signalled;
        assert_eq!(ending(&outcome), "ended by SIGKILL after 1.50 s");
        outcome.ended = Ended::TimedOut;
        outcome.limits_hit = vec![LimitHit::new(LimitName::WallTime, "it ran too long")];
        assert_eq!(ending(&outcome), "timed out after 1.50 s");
        outcome.reopened = Some("it had ended".to_owned());
        let [limit, reopened] = &notes(&outcome)[..] else { panic!("two notes") };
        assert_eq!(limit, "limit: it ran too long; ask the operator to raise the option `timeout`");
        assert!(reopened.contains("opened anew before this command, because it had ended"), "{reopened}");
    }
}
