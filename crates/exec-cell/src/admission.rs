//! What must hold before a command starts, whatever runs it. Pure.

use exec_core::{Capabilities, Change, Error, ErrorKind, ExecOpts, Held, Isolation, Plan, Remedy, Result};

/// The floor that the options name is reached, or the run is refused.
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

/// A limit asked for by name holds for the run as a whole, or the run is refused with what would make it hold.
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
