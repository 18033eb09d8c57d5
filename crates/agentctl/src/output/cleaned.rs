//! What cleaning up came to, for people. Pure.

use agent_exec::control::{Cleaned, SweepMode};

use super::Line;

/// One line for everything that went, or would go.
pub(crate) fn render(report: &Cleaned, mode: SweepMode) -> String {
    let done = if mode == SweepMode::Look { "would remove" } else { "removed" };
    let named = |what: &'static str, names: &[String]| -> Vec<String> {
        names.iter().map(|name| format!("{done} {what} {name}\n")).collect()
    };
    let mut lines = named("cell", &report.here.cells);
    let closed = if mode == SweepMode::Look { "would close" } else { "closed" };
    lines.extend(report.here.runs.iter().map(|run| format!("{closed} run {run}\n")));
    lines.extend(named("container", &report.containers));
    lines.extend(named("directory", &report.here.directories));
    for (count, what) in [(report.here.control_groups, "control groups"), (report.lanes, "lanes")] {
        if count > 0 {
            lines.push(format!("{done} {count} {what}\n"));
        }
    }
    lines.concat()
}

/// What could not be done.
pub(crate) fn problems(report: &Cleaned) -> Vec<Line> {
    let here = report.here.problems.iter().map(|problem| Line::error(problem.clone()));
    here.chain(report.left.iter().map(|left| Line::error(format!("{}: {}", left.what, left.why)))).collect()
}
