//! The outcome of a clean-up as text. Pure.

use agent_exec::control::{Cleaned, SweepMode};

use super::Line;

/// One line for everything that was removed, or would be.
pub(crate) fn render(report: &Cleaned, mode: SweepMode) -> String {
    let done = if mode == SweepMode::Look { "would remove" } else { "removed" };
    let named = |what: &'static str, names: &[String]| -> Vec<String> {
        names.iter().map(|name| format!("{done} {what} {name}\n")).collect()
    };
    let mut lines = named("cell", &report.here.cells);
    let closed = if mode == SweepMode::Look { "would close" } else { "closed" };
    lines.extend(report.here.runs.iter().map(|run| format!("{closed} run {run}\n")));
    lines.extend(named("container", &report.containers));
    lines.extend(named("volume", &report.volumes));
    lines.extend(named("network", &report.networks));
    lines.extend(named("directory", &report.here.directories));
    for (count, what) in
        [(report.here.control_groups, "control groups"), (report.fifo_channels, "FIFO channels")]
    {
        if count > 0 {
            lines.push(format!("{done} {count} {what}\n"));
        }
    }
    lines.concat()
}

/// What was kept or failed.
pub(crate) fn problems(report: &Cleaned) -> Vec<Line> {
    let here = report.here.problems.iter().map(|problem| Line::error(problem.clone()));
    here.chain(report.left.iter().map(|left| Line::error(format!("{}: {}", left.what, left.why)))).collect()
}

#[cfg(test)]
mod tests {
    use agent_exec::control::Left;

    use super::*;

    /// R15
    #[test]
    fn removals_are_named_and_objects_in_use_are_not_errors() {
        let left = |what: &str, why: &str| Left { what: what.into(), why: why.into(), may_live: false };
        let mut report = Cleaned {
            containers: vec!["c".into()],
            volumes: vec!["v".into()],
            networks: vec!["n".into()],
            left: vec![left("volume w", "it is in use by x")],
            in_use: 1,
            ..Cleaned::default()
        };
        let removed = "removed container c\nremoved volume v\nremoved network n\n";
        assert_eq!(render(&report, SweepMode::Remove), removed);
        assert_eq!(problems(&report), [Line::error("volume w: it is in use by x")]);
        assert!(report.is_done() && !report.is_nothing());
        report.left.push(left("network m", "the engine refused"));
        assert!(!report.is_done());
    }
}
