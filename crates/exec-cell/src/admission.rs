//! Conditions for starting a command, on any backend. Pure.

use exec_core::{Capabilities, Change, Error, ErrorKind, ExecOpts, Held, Isolation, Plan, Remedy, Result};

/// Refuses the run if the isolation is weaker than the options require.
pub(crate) fn require_floor(capabilities: &Capabilities, opts: &ExecOpts, backend: &str) -> Result<()> {
    let level = capabilities.level;
    match opts.min_isolation.filter(|floor| level < *floor) {
        None => Ok(()),
        Some(floor) => Err(Error::new(
            ErrorKind::IsolationTooWeak,
            "start",
            format!("its isolation here is `{level}`, the floor is `{floor}`"),
        )
        .with_backend(backend)
        .with_remedy(Remedy::weaker_floor(level))),
    }
}

/// Refuses the run, with a remedy, if a limit asked for by name does not hold for the run as a whole.
pub(crate) fn require_limits(
    plan: &Plan,
    isolation: &Isolation,
    backend: &str,
    remedy: impl Fn() -> Remedy,
) -> Result<()> {
    for report in isolation.limits.iter().filter(|report| plan.limits.required.contains(&report.limit)) {
        let why = match &report.held {
            Held::Enforced { .. } => continue,
            Held::InPart { by, gap } => format!("it holds in part only, by {by}; it does not bound {gap}"),
            Held::NotEnforced { why } => why.clone(),
        };
        let message =
            format!("the limit of {} for {} can't be enforced here: {why}", report.asked, report.limit);
        return Err(Error::new(ErrorKind::LimitNotEnforced, "start", message)
            .with_backend(backend)
            .with_remedy(remedy().or(Change::give("best_effort_limits"))));
    }
    Ok(())
}
