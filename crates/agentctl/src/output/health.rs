//! The health of all runs in one line. Pure.

use agent_exec::control::{HealthReport, HealthState};

use super::ps::memory;

/// The line, and another while an emergency stop is in force.
pub(crate) fn render(report: &HealthReport) -> String {
    let state = match report.state {
        HealthState::Running => "running",
        HealthState::Stopped => "stopped",
        HealthState::Error => "error",
    };
    let mut text = format!(
        "{state}: {}, {}, {}, {}, {:.1}s CPU, {} memory\n",
        count(report.runs, "run"),
        count(report.sessions, "session"),
        count(report.warm_cells, "warm cell"),
        count(report.load.processes, "process"),
        report.load.cpu_ms as f64 / 1000.0,
        memory(report.load.memory_bytes),
    );
    if let Some(since) = &report.stopped_since {
        text.push_str("an emergency stop is in force since ");
        text.push_str(since);
        text.push_str("; `agentctl resume` lifts it\n");
    }
    text
}

fn count(number: usize, what: &str) -> String {
    let end = match (number, what.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {what}{end}")
}

#[cfg(test)]
mod tests {
    use agent_exec::control::Load;

    use super::*;

    /// R90
    #[test]
    fn health_is_one_line() {
        let report = HealthReport {
            state: HealthState::Running,
            stopped_since: None,
            runs: 2,
            sessions: 1,
            warm_cells: 0,
            load: Load { processes: 7, cpu_ms: 1540, memory_bytes: 3 << 20, network_denials: None },
            problems: Vec::new(),
        };
        let expected = "running: 2 runs, 1 session, 0 warm cells, 7 processes, 1.5s CPU, 3.0M memory\n";
        assert_eq!(render(&report), expected);
    }
}
