//! Judges what ended a run, from its cell's account, in the caller's terms. Pure.

use std::time::Duration;

use exec_core::{Ended, LimitHit, LimitName, Plan, ResolvedLimits, Status};
use exec_wire::{Closed, EndReason, Exited};

use crate::runs::status;

/// The limits of a run, for reporting which one it hit.
#[derive(Debug, Clone)]
pub(crate) struct RunLimits {
    resolved: ResolvedLimits,
    idle: Option<Duration>,
}

impl RunLimits {
    /// The limits of a planned run.
    pub(crate) fn of(plan: &Plan) -> Self {
        Self { resolved: plan.limits.clone(), idle: plan.idle_timeout }
    }
}

/// Returns what ended the run, its status, and the limits it hit.
pub(crate) fn judge(exited: Exited, closed: &Closed, limits: &RunLimits) -> (Ended, Status, Vec<LimitHit>) {
    let status = status(exited.status);
    let out_of_memory = closed.oom_kills > 0;
    let ended = match exited.reason {
        EndReason::WallTime | EndReason::IdleTime => Ended::TimedOut,
        EndReason::OutputLimit => Ended::OutputLimit,
        EndReason::Stopped => Ended::Cancelled,
        // A program that survives the loss of a child and exits 0 has succeeded; any other end after a kill for
        // memory is due to that kill, even if a shell reports it as 137.
        EndReason::Own if out_of_memory && status != Status::Code(0) => Ended::OutOfMemory,
        EndReason::Own => match status {
            Status::Code(_) => Ended::Exited,
            Status::Signal(_) => Ended::Signalled,
        },
    };
    (ended, status, limits_hit(exited, closed, limits))
}

fn limits_hit(exited: Exited, closed: &Closed, limits: &RunLimits) -> Vec<LimitHit> {
    let mut hits = Vec::new();
    let mut hit = |limit, text: String| hits.push(LimitHit::new(limit, text));
    let shown = |value: Option<String>| value.unwrap_or_else(|| "the machine's".into());
    match exited.reason {
        EndReason::WallTime => {
            let limit = shown(limits.resolved.timeout.map(|limit| format!("{limit:?}")));
            hit(LimitName::WallTime, format!("it ran longer than its wall time of {limit}"));
        }
        EndReason::IdleTime => {
            let limit = shown(limits.idle.map(|limit| format!("{limit:?}")));
            hit(LimitName::IdleTime, format!("it was silent for longer than its idle time of {limit}"));
        }
        EndReason::OutputLimit => {
            let limit = shown(limits.resolved.output.map(|limit| limit.to_string()));
            hit(LimitName::Output, format!("it wrote more than its output limit of {limit}"));
        }
        EndReason::Own | EndReason::Stopped => {}
    }
    if closed.oom_kills > 0 {
        let limit = shown(limits.resolved.memory.map(|limit| limit.to_string()));
        let count = closed.oom_kills;
        hit(
            LimitName::Memory,
            format!("the kernel killed {count} of its processes at its memory limit of {limit}"),
        );
    }
    if closed.pids_denied > 0 {
        let limit = shown(limits.resolved.pids.map(|limit| limit.to_string()));
        let count = closed.pids_denied;
        hit(LimitName::Pids, format!("it was refused {count} new processes at its limit of {limit}"));
    }
    hits
}

#[cfg(test)]
mod tests {
    use exec_core::{Change, Cmd, ExecOpts, OwnPlaces, Signal};
    use rstest::rstest;

    use super::*;

    fn limits() -> RunLimits {
        let plan = Plan::resolve(
            &Cmd::new("true"),
            &ExecOpts::in_workspace(std::env::temp_dir()),
            [],
            &OwnPlaces::default(),
        )
        .unwrap();
        RunLimits { resolved: plan.limits, idle: Some(Duration::from_secs(1)) }
    }

    /// R3, R4, R42
    #[rstest]
    #[case::exit(EndReason::Own, exec_wire::Status::Code(3), 0, Ended::Exited, &[])]
    #[case::own_124(EndReason::Own, exec_wire::Status::Code(124), 0, Ended::Exited, &[])]
    #[case::own_137(EndReason::Own, exec_wire::Status::Code(137), 0, Ended::Exited, &[])]
    #[case::signal(EndReason::Own, exec_wire::Status::Signal(11), 0, Ended::Signalled, &[])]
    #[case::oom(EndReason::Own, exec_wire::Status::Signal(9), 1, Ended::OutOfMemory, &[LimitName::Memory])]
    #[case::oom_in_a_shell(EndReason::Own, exec_wire::Status::Code(137), 1, Ended::OutOfMemory, &[LimitName::Memory])]
    #[case::oom_survived(EndReason::Own, exec_wire::Status::Code(0), 1, Ended::Exited, &[LimitName::Memory])]
    #[case::wall(EndReason::WallTime, exec_wire::Status::Signal(15), 0, Ended::TimedOut, &[LimitName::WallTime])]
    #[case::idle(EndReason::IdleTime, exec_wire::Status::Code(0), 0, Ended::TimedOut, &[LimitName::IdleTime])]
    #[case::output(EndReason::OutputLimit, exec_wire::Status::Signal(9), 0, Ended::OutputLimit, &[LimitName::Output])]
    #[case::cancelled(EndReason::Stopped, exec_wire::Status::Code(0), 0, Ended::Cancelled, &[])]
    fn every_ending(
        #[case] reason: EndReason,
        #[case] status: exec_wire::Status,
        #[case] oom_kills: u64,
        #[case] ended: Ended,
        #[case] hit: &[LimitName],
    ) {
        let closed = Closed { oom_kills, ..Closed::default() };
        let (got, _, hits) = judge(Exited { reason, status }, &closed, &limits());
        assert_eq!(got, ended);
        assert_eq!(hits.iter().map(|hit| hit.limit).collect::<Vec<_>>(), hit);
        assert!(hits.iter().all(|hit| hit.remedy == Change::raise(hit.limit.option()).into()), "{hits:?}");
    }

    #[test]
    fn the_status_is_told_whatever_ended_it() {
        let exited = Exited { reason: EndReason::WallTime, status: exec_wire::Status::Signal(15) };
        let (_, status, _) = judge(exited, &Closed::default(), &limits());
        assert_eq!(status, Status::Signal(Signal::TERM));
    }
}
