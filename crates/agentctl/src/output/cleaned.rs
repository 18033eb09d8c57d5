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
    lines.extend(named("volume", &report.volumes));
    lines.extend(named("network", &report.networks));
    lines.extend(named("directory", &report.here.directories));
    for (count, what) in [(report.here.control_groups, "control groups"), (report.lanes, "lanes")] {
        if count > 0 {
            lines.push(format!("{done} {count} {what}\n"));
        }
    }
    lines.concat()
}

/// What was not done. That something stays because somebody uses it is no failure.
pub(crate) fn problems(report: &Cleaned) -> Vec<Line> {
    let line = |text: String| if report.is_done() { Line::info(text) } else { Line::error(text) };
    let left = report.left.iter().map(|left| format!("{}: {}", left.what, left.why));
    report.here.problems.iter().cloned().chain(left).map(line).collect()
}
