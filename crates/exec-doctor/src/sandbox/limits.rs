//! Whether limits are enforced, as read back by the cell.

use exec_core::{Held, LimitReport, Remedy};

use super::Patient;
use crate::Verdict;

pub(super) async fn check(patient: &Patient<'_>) -> Result<Verdict, Verdict> {
    let result = patient.shell("exit 0").await?;
    Ok(judge(&result.outcome.isolation.limits, patient.host.cgroups.fix()))
}

fn judge(limits: &[LimitReport], fix: impl Into<Remedy>) -> Verdict {
    let of = |limit: &LimitReport| format!("{} {}", limit.limit, limit.asked);
    let loose: Vec<String> = limits
        .iter()
        .filter_map(|limit| match &limit.held {
            Held::Enforced { .. } => None,
            Held::InPart { by, gap } => {
                Some(format!("{} holds in part only (by {by}; not bounded: {gap})", of(limit)))
            }
            Held::NotEnforced { why } => Some(format!("{} does not hold ({why})", of(limit))),
        })
        .collect();
    if loose.is_empty() {
        let held: Vec<String> = limits.iter().map(of).collect();
        Verdict::holds(format!("read back from inside: {}", held.join(", ")))
    } else {
        Verdict::weak(loose.join("; "), fix)
    }
}

#[cfg(test)]
mod tests {
    use exec_core::LimitName;

    use super::*;

    /// R41, R65
    #[test]
    fn limits_that_do_not_hold_are_named() {
        let limit = |limit, held| LimitReport { limit, asked: "7".into(), held };
        let enforced = limit(LimitName::Memory, Held::Enforced { by: "cgroup".into() });
        let loose = limit(LimitName::Pids, Held::NotEnforced { why: "no control group".into() });
        assert_eq!(
            judge(std::slice::from_ref(&enforced), "fix"),
            Verdict::holds("read back from inside: memory 7")
        );
        let found = "processes 7 does not hold (no control group)";
        assert_eq!(judge(&[enforced, loose], "fix"), Verdict::weak(found, "fix"));
    }
}
