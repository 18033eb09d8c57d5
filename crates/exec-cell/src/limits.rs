//! How far each limit holds, from the request and the values a cell read back. Pure.

use exec_core::{ByteSize, Held, LimitName, LimitReport, Plan};
use exec_wire::{CgroupVersion, ReadBack};

/// Limits for a cell as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CellLimits {
    /// Bytes of memory, swap included.
    pub memory: Option<u64>,
    /// Processes and threads of the commands.
    pub pids: Option<u64>,
    /// Thousandths of a CPU.
    pub cpu_milli: Option<u64>,
}

impl CellLimits {
    /// The limits a planned run asks for.
    pub fn of(plan: &Plan) -> Self {
        Self {
            memory: plan.limits.memory.map(ByteSize::get),
            pids: plan.limits.pids.map(u64::from),
            cpu_milli: plan.limits.cpus.map(exec_core::Cpus::milli),
        }
    }

    /// Reports how each requested limit holds: by the control group the cell read it back from, or else according to
    /// `without`.
    pub fn reports(&self, found: &ReadBack, without: impl Fn(LimitName) -> Held) -> Vec<LimitReport> {
        let by = match found.cgroup {
            Some(CgroupVersion::V1) => "control groups v1",
            _ => "control groups v2",
        };
        let rows = [
            (LimitName::Memory, self.memory, found.memory, bytes as fn(u64) -> String),
            (LimitName::Pids, self.pids, found.pids, |count| count.to_string()),
            (LimitName::Cpus, self.cpu_milli, found.cpu_milli, |milli| format!("{}", milli as f64 / 1000.0)),
        ];
        let asked =
            rows.into_iter().filter_map(|(limit, asked, found, show)| Some((limit, asked?, found, show)));
        asked
            .map(|(limit, asked, found, show)| {
                let held = match found {
                    // The kernel rounds to whole pages and whole periods, and only down.
                    Some(found) if found <= asked => Held::Enforced { by: by.into() },
                    Some(found) => Held::NotEnforced { why: format!("{} is in force instead", show(found)) },
                    None => without(limit),
                };
                LimitReport { limit, asked: show(asked), held }
            })
            .collect()
    }
}

fn bytes(count: u64) -> String {
    ByteSize::bytes(count).to_string()
}

/// Describes a limit that does not hold for the run as a whole.
pub fn not_held(report: &LimitReport) -> Option<String> {
    let LimitReport { limit, asked, held } = report;
    match held {
        Held::Enforced { .. } => None,
        Held::InPart { by, gap } => Some(format!(
            "the limit of {asked} for {limit} holds in part only, by {by}; it does not bound {gap}"
        )),
        Held::NotEnforced { why } => Some(format!("the limit of {asked} for {limit} is not enforced: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: CellLimits = CellLimits { memory: Some(1 << 30), pids: Some(32), cpu_milli: Some(1500) };

    fn nothing(_: LimitName) -> Held {
        Held::NotEnforced { why: "the kernel does not".into() }
    }

    /// R41
    #[test]
    fn what_was_read_back_decides() {
        let found = ReadBack {
            cgroup: Some(CgroupVersion::V2),
            memory: Some(1 << 30),
            pids: Some(4096),
            cpu_milli: None,
        };
        let shown: Vec<Option<String>> = ASKED.reports(&found, nothing).iter().map(not_held).collect();
        let expected = [
            None,
            Some("the limit of 32 for processes is not enforced: 4096 is in force instead".to_owned()),
            Some("the limit of 1.5 for CPUs is not enforced: the kernel does not".to_owned()),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_was_not_asked_for_is_not_reported() {
        assert_eq!(CellLimits::default().reports(&ReadBack::default(), nothing), []);
    }
}
