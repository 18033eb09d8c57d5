//! `best_effort_limits`: report limits that can't be enforced instead of refusing the run.

use exec_core::LimitPolicy;

use super::prelude::*;

/// Whether a limit that was set and can't be enforced is only reported.
pub(crate) struct BestEffortLimits;

impl RunOption for BestEffortLimits {
    type Value = bool;

    const DOCS: Docs = Docs {
        name: "best_effort_limits",
        flag: "--best-effort-limits",
        value_name: "BOOL",
        heading: Heading::Limits,
        summary: "Report a limit that can't be enforced instead of refusing the run",
        example: "false",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, on: bool) {
        settings.opts.limits.policy = if on { LimitPolicy::Report } else { LimitPolicy::Require };
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed("false")
    }

    fn is_looser(before: &Settings, after: &Settings, machine: Machine) -> bool {
        let (a, b) = (before.resolved_limits(machine), after.resolved_limits(machine));
        (before.opts.limits.policy, after.opts.limits.policy) == (LimitPolicy::Require, LimitPolicy::Report)
            || !a.required.iter().all(|name| b.required.contains(name))
    }
}
