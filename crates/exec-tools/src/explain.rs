//! How a run ended, and what of the sandbox it ran into, each in a sentence with the option that lifts it. Pure.

use std::time::Duration;

use exec_core::{Ended, ExecResult, Network, Outcome, Plan, Status};

/// The line that comes first in an answer.
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

/// What else there is to say: limits it hit and what it was denied.
pub(crate) fn notes(outcome: &Outcome) -> Vec<String> {
    let limits =
        outcome.limits_hit.iter().map(|hit| format!("limit: {} (an option of the operator)", hit.message));
    let denials = outcome.denials.iter().map(|denial| format!("denied: {}", denial.message));
    let survivors = (!outcome.survivors.is_empty())
        .then(|| format!("{} processes could not be killed", outcome.survivors.len()));
    let memory = (outcome.ended == Ended::OutOfMemory && outcome.limits_hit.is_empty())
        .then(|| "limit: the memory is used up; the operator raises it with --memory".to_owned());
    limits.chain(denials).chain(memory).chain(survivors).collect()
}

/// What programs print when they run into a wall, and what to say about it.
struct Wall {
    phrases: &'static [&'static str],
    applies: fn(&Plan) -> bool,
    says: &'static str,
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
        says: "there is no network in this sandbox; the operator can give it one with --network bridge",
    },
    Wall {
        phrases: &["read-only file system"],
        applies: |_| true,
        says: "that place is read-only in this sandbox; write to the workspace or /tmp, or the operator can allow more with \
               --write-path or --mount SRC:DST:rw",
    },
    Wall {
        phrases: &["no space left on device"],
        applies: |_| true,
        says: "if that was in /tmp or $HOME, they are small here; the operator can enlarge them with --tmp-size",
    },
    Wall {
        phrases: &["resource temporarily unavailable", "cannot fork", "can't fork"],
        applies: |plan| plan.limits.pids.is_some(),
        says: "the number of processes is limited here; the operator can raise it with --pids",
    },
    Wall {
        phrases: &["too many open files"],
        applies: |_| true,
        says: "the number of open files is limited here; the operator can raise it with --open-files",
    },
];

/// A guess at which wall a failed command ran into, from what it printed. It is no proof, so that it says "perhaps".
pub(crate) fn guess(result: &ExecResult, plan: &Plan) -> Option<String> {
    if result.success() {
        return None;
    }
    let printed = [result.stderr.tail(), result.stderr.head(), result.stdout.tail(), result.stdout.head()];
    let printed = printed.map(|bytes| String::from_utf8_lossy(bytes).to_lowercase());
    let says =
        |wall: &&Wall| wall.phrases.iter().any(|phrase| printed.iter().any(|text| text.contains(phrase)));
    WALLS.iter().filter(says).find(|wall| (wall.applies)(plan)).map(|wall| format!("perhaps: {}", wall.says))
}
