//! Messages before a run: where it runs, and what is weaker than it should be. Pure.

use std::fmt::Display;
use std::path::Path;

use agent_exec::{Evidence, Found, Sandbox};
use exec_core::{
    Because, Capabilities, ExecOpts, Executor, IsolationLevel, Machine, NamespaceBan, Network, PassedOver,
    Selection,
};

use super::line::Line;
use super::spelled;

/// Where a command runs, in one short line: the sandbox, its isolation, and the limits that users hit most.
pub(crate) fn place(name: &str, has: &Capabilities, opts: &ExecOpts) -> String {
    let version = has.engine.as_ref().map_or_else(String::new, |engine| format!(" {}", engine.version));
    let limits = opts.limits.resolve(Machine::this());
    let limits = [
        limits.memory.map(|memory| memory.to_string()),
        limits.cpus.map(|cpus| format!("cpus {cpus}")),
        limits.timeout.map(|time| humantime::format_duration(time).to_string()),
    ];
    let parts = [format!("{name}{version}"), format!("isolation {}", has.level)]
        .into_iter()
        .chain(image(has, opts))
        .chain([format!("network {}", network(opts))])
        .chain(limits.into_iter().flatten());
    parts.collect::<Vec<_>>().join(", ")
}

/// The same in full detail.
pub(crate) fn place_in_full(name: &str, has: &Capabilities, opts: &ExecOpts, workspace: &Path) -> String {
    let engine =
        has.engine.as_ref().map_or_else(String::new, |engine| format!(" ({engine} at {})", engine.at));
    let limits = opts.limits.resolve(Machine::this());
    let parts = [format!("{name}{engine}"), format!("isolation {}", has.level)]
        .into_iter()
        .chain(image(has, opts))
        .chain([
            format!("network {}", network(opts)),
            format!("memory {}", or_unlimited(limits.memory)),
            format!("cpus {}", or_unlimited(limits.cpus)),
            format!("processes {}", or_unlimited(limits.pids)),
            format!("time {}", or_unlimited(limits.timeout.map(humantime::format_duration))),
            format!("workspace {}", workspace.display()),
        ]);
    parts.collect::<Vec<_>>().join(", ")
}

fn image(has: &Capabilities, opts: &ExecOpts) -> Option<String> {
    has.images.then(|| format!("image {}", opts.image.as_deref().unwrap_or("host")))
}

fn network(opts: &ExecOpts) -> Network {
    opts.network.unwrap_or(Network::None)
}

fn or_unlimited(limit: Option<impl Display>) -> String {
    limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
}

/// What is weaker than it should be, with the remedy. `ban` is the kernel setting that forbids namespaces to
/// this user.
pub(crate) fn warnings(has: &Capabilities, selection: &Selection, ban: Option<NamespaceBan>) -> Vec<Line> {
    let mut lines = Vec::new();
    lines.extend(fallback(has, selection).map(Line::warn));
    lines.extend(ruled_out(has, selection).map(Line::warn));
    if let Some(by) = &selection.overruled {
        lines.push(Line::warn(format!("{by} is overruled: {} was requested by name", selection.name)));
    }
    if has.level < IsolationLevel::Namespaces {
        let ban = ban.map_or_else(String::new, |ban| {
            format!(" ({} forbids them; to allow them: {})", ban.setting(), ban.fix())
        });
        lines.push(Line::warn(format!(
            "weak isolation ({}): no namespaces{ban}; --min-isolation namespaces refuses it, --quiet hides this warning",
            has.level
        )));
    }
    lines
}

/// One paragraph: what is missing, what is used instead, and both ways out.
fn fallback(has: &Capabilities, selection: &Selection) -> Option<String> {
    let missed: Vec<&PassedOver> =
        selection.passed_over.iter().filter(|other| other.because != Because::RuledOut).collect();
    let first = missed.first()?;
    let reasons: Vec<String> =
        missed.iter().map(|other| format!("{} is not used: {}", other.name, other.reason)).collect();
    Some(format!(
        "{}. The command runs in `{chosen}` (isolation {}) instead. To use {}: {}. --no-fallback refuses this fallback, \
         --sandbox {chosen} accepts it without a warning.",
        reasons.join(". "),
        has.level,
        first.name,
        spelled(&first.remedy),
        chosen = selection.name,
    ))
}

/// A configured choice is not a fallback, but the reader of the output may not be the author of the
/// configuration.
fn ruled_out(has: &Capabilities, selection: &Selection) -> Option<String> {
    let first = selection.passed_over.iter().find(|other| other.because == Because::RuledOut)?;
    Some(format!(
        "containers are ruled out by {}: the command runs in `{chosen}` (isolation {}). --sandbox {} is stronger, \
         --sandbox {chosen} accepts this one without a warning.",
        first.reason,
        has.level,
        first.name,
        chosen = selection.name,
    ))
}

/// The results of the search for sandboxes, for `--verbose`.
pub(crate) fn evidence(evidence: &[Evidence]) -> Vec<Line> {
    evidence.iter().filter_map(looked).map(Line::info).collect()
}

fn looked(evidence: &Evidence) -> Option<String> {
    let found = match &evidence.found {
        Found::Works { engine: Some(engine), .. } => format!("{engine} at {}", engine.at),
        Found::Works { isolation, engine: None } => format!("works, isolation {isolation}"),
        Found::Missing { reason, .. } => reason.clone(),
        Found::NotTried => return None,
    };
    let took = evidence.took.as_secs_f64() * 1e3;
    Some(format!("looked for {}: {found} ({took:.0} ms)", evidence.executor))
}

/// A worker's log (R64): which isolation is enabled, which is not and why, and where the command runs.
pub(crate) fn worker(sandbox: &Sandbox, opts: &ExecOpts, workspace: &Path) -> Vec<Line> {
    worker_lines(sandbox.name(), sandbox.capabilities(), sandbox.selection(), opts, workspace)
}

fn worker_lines(
    name: &str,
    has: &Capabilities,
    selection: &Selection,
    opts: &ExecOpts,
    workspace: &Path,
) -> Vec<Line> {
    let mut lines: Vec<Line> = selection.passed_over.iter().map(disabled).collect();
    let image = image(has, opts).map_or_else(String::new, |image| format!(", {image}"));
    match (&has.engine, selection.passed_over.is_empty()) {
        (Some(engine), _) => {
            lines.push(Line::info(format!("{} isolation ENABLED ({engine}{image})", engine.make)));
        }
        (None, true) => lines.push(Line::warn(format!("Docker isolation DISABLED (`{name}` was requested)"))),
        (None, false) => {}
    }
    if let Some(by) = &selection.overruled {
        lines.push(Line::warn(format!("{by} is overruled by --sandbox {name}")));
    }
    let place = place_in_full(name, has, opts, workspace);
    lines.push(Line::info(format!("Execution context: {place}")));
    lines
}

fn disabled(other: &PassedOver) -> Line {
    let mut make = other.name.clone();
    if let Some(first) = make.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let line = Line::warn(format!("{make} isolation DISABLED ({})", other.reason));
    if other.because == Because::RuledOut { line } else { line.with_remedy(spelled(&other.remedy)) }
}

#[cfg(test)]
mod tests;
