//! Running commands, as a table and as an object. Pure.

use std::time::Duration;

use agent_exec::control::{CellView, Latch, Load, OwnerState};
use exec_core::printable;
use serde::Serialize;

use super::{Line, table};

/// The longest command that a table shows.
const LONGEST: usize = 60;

/// A line of the table: a run, a session without one, or an idle cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Its cell; all runs of a session share one.
    pub(crate) cell: String,
    pub(crate) sandbox: String,
    pub(crate) owner: String,
    pub(crate) age: Duration,
    /// The resource usage of its cell.
    pub(crate) load: Option<Load>,
    pub(crate) command: String,
    /// The name to stop it by.
    pub(crate) target: String,
}

/// The rows of these cells; idle cells only on request.
pub(crate) fn rows(cells: &[CellView], idle: bool) -> Vec<Row> {
    cells.iter().filter(|cell| idle || !cell.is_idle()).flat_map(rows_of).collect()
}

fn rows_of(cell: &CellView) -> Vec<Row> {
    let owner = match cell.owner {
        OwnerState::Alive => cell.record.owner.pid.to_string(),
        OwnerState::Stopped => format!("{} (stopped)", cell.record.owner.pid),
        OwnerState::Dead => format!("{} (dead)", cell.record.owner.pid),
        OwnerState::Elsewhere => format!("{} (elsewhere)", cell.record.owner.pid),
    };
    let row = |name: &str, age, command: String| Row {
        name: name.to_owned(),
        cell: cell.record.name.clone(),
        sandbox: cell.record.backend.clone(),
        owner: owner.clone(),
        age,
        load: cell.load,
        command,
        target: name.to_owned(),
    };
    let session = cell.record.session.as_ref().map(|name| format!("[{}] ", printable::line(name)));
    if cell.runs.is_empty() {
        let what = match &session {
            Some(session) => format!("{session}waits for a command"),
            None if cell.record.place.is_none() => "is being made".to_owned(),
            None => "warm".to_owned(),
        };
        return vec![row(&cell.record.name, cell.record.since.age(), what)];
    }
    let session = session.unwrap_or_default();
    let of_run = |run: &agent_exec::control::RunRecord| {
        row(&run.id, run.since.age(), format!("{session}{}", printable::line(&run.argv.join(" "))))
    };
    cell.runs.iter().map(of_run).collect()
}

/// The table.
pub(crate) fn render(rows: &[Row]) -> String {
    let head = ["RUN", "SANDBOX", "OWNER", "AGE", "PROCS", "CPU", "MEMORY", "COMMAND"];
    let line = |row: &Row| {
        let [processes, cpu, memory] = figures(row.load);
        let command = cut(&row.command, LONGEST);
        [
            row.name.clone(),
            row.sandbox.clone(),
            row.owner.clone(),
            age(row.age),
            processes,
            cpu,
            memory,
            command,
        ]
    };
    table(&head, rows.iter().map(line))
}

/// Processes, processor time and memory in readable units.
pub(crate) fn figures(load: Option<Load>) -> [String; 3] {
    match load {
        None => ["?".to_owned(), "?".to_owned(), "?".to_owned()],
        Some(load) => [
            load.processes.to_string(),
            format!("{:.1}s", load.cpu_ms as f64 / 1000.0),
            memory(load.memory_bytes),
        ],
    }
}

/// A size with one digit after the point.
pub(crate) fn memory(bytes: u64) -> String {
    let units = [(1u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    match units.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1}{name}", bytes as f64 / *unit as f64),
        None => bytes.to_string(),
    }
}

/// How long ago, in the two largest units.
pub(crate) fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    match (seconds / 86400, seconds / 3600, seconds / 60) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, minutes) => format!("{minutes}m{:02}s", seconds % 60),
        (0, hours, minutes) => format!("{hours}h{:02}m", minutes % 60),
        (days, hours, _) => format!("{days}d{:02}h", hours % 24),
    }
}

/// At most this many characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The message that new runs are refused.
pub(crate) fn latched(latch: &Latch) -> Line {
    Line::warn(format!("an emergency stop is in force since {}", latch.since.rfc3339()))
        .with_remedy("lift it with `agentctl resume` when all is well")
}

/// Everything, for programs.
#[derive(Debug, Serialize)]
pub(crate) struct Object {
    stopped_since: Option<String>,
    cells: Vec<CellObject>,
}

#[derive(Debug, Serialize)]
struct CellObject {
    cell: String,
    executor: String,
    owner: String,
    owner_pid: u32,
    owner_state: OwnerState,
    session: Option<String>,
    since: String,
    container: Option<String>,
    processes: Option<usize>,
    cpu_ms: Option<u64>,
    memory_bytes: Option<u64>,
    network_denials: Option<u64>,
    runs: Vec<RunObject>,
}

#[derive(Debug, Serialize)]
struct RunObject {
    run: String,
    argv: Vec<String>,
    cwd: String,
    since: String,
    age_ms: u64,
}

/// The object of these cells.
pub(crate) fn object(cells: &[CellView], latch: Option<&Latch>) -> Object {
    Object {
        stopped_since: latch.map(|latch| latch.since.rfc3339()),
        cells: cells.iter().map(cell_object).collect(),
    }
}

fn cell_object(cell: &CellView) -> CellObject {
    let record = &cell.record;
    CellObject {
        cell: record.name.clone(),
        executor: record.backend.clone(),
        owner: record.owner.id.clone(),
        owner_pid: record.owner.pid,
        owner_state: cell.owner,
        session: record.session.clone(),
        since: record.since.rfc3339(),
        container: match &record.place {
            Some(agent_exec::control::Place::Container { id, .. }) => Some(id.clone()),
            _ => None,
        },
        processes: cell.load.map(|load| load.processes),
        cpu_ms: cell.load.map(|load| load.cpu_ms),
        memory_bytes: cell.load.map(|load| load.memory_bytes),
        network_denials: cell.load.and_then(|load| load.network_denials),
        runs: cell.runs.iter().map(run_object).collect(),
    }
}

fn run_object(run: &agent_exec::control::RunRecord) -> RunObject {
    RunObject {
        run: run.id.clone(),
        argv: run.argv.clone(),
        cwd: run.cwd.clone(),
        since: run.since.rfc3339(),
        age_ms: u64::try_from(run.since.age().as_millis()).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!(age(Duration::from_secs(59)), "59s");
        assert_eq!(age(Duration::from_secs(61)), "1m01s");
        assert_eq!(age(Duration::from_secs(3 * 3600 + 65)), "3h01m");
        assert_eq!(age(Duration::from_secs(50 * 3600)), "2d02h");
        assert_eq!(memory(999), "999");
        assert_eq!(memory(1536 << 10), "1.5M");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("äöü", 3), "äöü");
    }
}
