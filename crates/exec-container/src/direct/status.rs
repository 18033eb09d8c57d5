//! What an engine's exit code means. Pure.

use std::collections::BTreeSet;

use exec_core::Signal;
use exec_wire::Status;

/// What an init program adds to the number of the signal that ended its child.
const BY_SIGNAL: i32 = 128;

/// What was done to a container that may have ended it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// Numbers of the signals that we sent.
    pub(super) signals: BTreeSet<i32>,
    /// We, or the kernel for want of memory, killed it.
    pub(super) killed: bool,
}

/// The command's status. A code above 128 is the command's own unless there is a reason to see a signal in it: codes that
/// commands choose are never taken for something else.
pub(super) fn status(code: i64, done: &Done) -> Status {
    let code = i32::try_from(code).unwrap_or(i32::MAX);
    let signal = code - BY_SIGNAL;
    if done.signals.contains(&signal) || (done.killed && signal == Signal::KILL.number()) {
        return Status::Signal(signal);
    }
    Status::Code(code)
}

/// Whether somebody else had the engine send the signal that this status is of.
pub(super) fn is_of_others(status: Status, sent: &BTreeSet<i32>) -> bool {
    matches!(status, Status::Code(code) if sent.contains(&(code - BY_SIGNAL)))
}

/// Whether the init program passes this signal on. It keeps for itself what a program gets for its own mistakes, and
/// nobody can pass on what stops a process.
pub(super) fn is_passed_on(signal: Signal) -> bool {
    const KEPT: [&str; 8] = ["STOP", "FPE", "ILL", "SEGV", "BUS", "ABRT", "TRAP", "SYS"];
    !KEPT.iter().any(|name| name.parse() == Ok(signal))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// R4
    #[rstest]
    #[case::own(3, &[], false, Status::Code(3))]
    #[case::own_137(137, &[], false, Status::Code(137))]
    #[case::own_143_after_another_signal(143, &[1], false, Status::Code(143))]
    #[case::own_code_despite_a_signal(7, &[15], true, Status::Code(7))]
    #[case::of_our_signal(143, &[15], false, Status::Signal(15))]
    #[case::killed(137, &[], true, Status::Signal(9))]
    #[case::killed_with_another_code(143, &[], true, Status::Code(143))]
    fn codes_are_the_commands_own(
        #[case] code: i64,
        #[case] signals: &[i32],
        #[case] killed: bool,
        #[case] expected: Status,
    ) {
        let done = Done { signals: signals.iter().copied().collect(), killed };
        assert_eq!(status(code, &done), expected);
    }

    /// F6
    #[test]
    fn what_others_did_is_told_apart() {
        let (sent, nothing) = (BTreeSet::from([9]), BTreeSet::new());
        assert!(is_of_others(Status::Code(137), &sent));
        assert!(!is_of_others(Status::Code(137), &nothing) && !is_of_others(Status::Code(143), &sent));
        assert!(!is_of_others(Status::Signal(9), &sent), "it was ours");
    }

    #[test]
    fn some_signals_stay_with_the_init_program() {
        assert!(is_passed_on(Signal::TERM) && is_passed_on(Signal::KILL) && is_passed_on(Signal::USR1));
        assert!(Signal::new(19).is_some_and(|stop| !is_passed_on(stop)));
    }
}
