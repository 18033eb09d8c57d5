//! The columns of the table: which of them fit a terminal, and what each shows of a row.

use ratatui::layout::{Alignment, Constraint};
use ratatui::text::Line;

use super::model::{Live, Model, Order};
use crate::output::ps::{age, memory};

/// The width of a sandbox's owner and the whole name; only wide terminals show them.
const WIDE: u16 = 110;

/// Columns that are dropped first on narrow terminals: half a figure would be another figure.
const LEFT_OUT_FIRST: [&str; 6] = ["SANDBOX", "AGE", "PIDS", "DENIED", "MEM", "CPU%"];

/// The minimum width of a command, so that commands are distinguishable.
const COMMAND: u16 = 10;

/// One column.
pub(super) struct Column {
    name: &'static str,
    width: u16,
    side: Alignment,
    /// The key that sorts by it.
    order: Option<Order>,
    text: fn(&Live) -> String,
}

/// The columns for a terminal of this width.
pub(super) fn columns(width: u16) -> Vec<Column> {
    let is_wide = width >= WIDE;
    let mut columns = vec![
        words("RUN", if is_wide { 34 } else { 16 }, |live| live.row.name.clone()).sorted_by(Order::Name),
        words("SANDBOX", 7, |live| live.row.sandbox.clone()),
    ];
    if is_wide {
        columns.push(words("OWNER", 16, |live| live.row.owner.clone()));
    }
    columns.extend([
        figure("CPU%", 6, |live| live.cpu.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.1}")))
            .sorted_by(Order::Cpu),
        figure("MEM", 7, |live| of_load(live, |load| memory(load.memory_bytes))).sorted_by(Order::Memory),
        figure("PIDS", 5, |live| of_load(live, |load| load.processes.to_string()))
            .sorted_by(Order::Processes),
        figure("DENIED", 7, denied).sorted_by(Order::Denials),
        figure("AGE", 6, |live| age(live.row.age)).sorted_by(Order::Age),
        words("COMMAND", COMMAND, |live| live.row.command.clone()),
    ]);
    for name in LEFT_OUT_FIRST {
        if room(&columns) > width {
            columns.retain(|column| column.name != name);
        }
    }
    columns
}

/// The width of these, with a space between two.
fn room(columns: &[Column]) -> u16 {
    columns.iter().map(|column| column.width + 1).sum::<u16>().saturating_sub(1)
}

impl Column {
    fn sorted_by(self, order: Order) -> Self {
        Self { order: Some(order), ..self }
    }

    /// The command gets the remaining width.
    pub(super) fn constraint(&self) -> Constraint {
        if self.name == "COMMAND" { Constraint::Min(self.width) } else { Constraint::Length(self.width) }
    }

    /// Its name, with an arrow if the rows are sorted by it.
    pub(super) fn head(&self, model: &Model) -> Line<'static> {
        let arrow = match (self.order == Some(model.order), model.reversed) {
            (false, _) => "",
            (true, false) => "▼",
            (true, true) => "▲",
        };
        Line::from(format!("{}{arrow}", self.name)).alignment(self.side)
    }

    /// Its cell in a row.
    pub(super) fn cell(&self, live: &Live) -> Line<'static> {
        Line::from((self.text)(live)).alignment(self.side)
    }
}

fn words(name: &'static str, width: u16, text: fn(&Live) -> String) -> Column {
    Column { name, width, side: Alignment::Left, order: None, text }
}

fn figure(name: &'static str, width: u16, text: fn(&Live) -> String) -> Column {
    Column { side: Alignment::Right, ..words(name, width, text) }
}

fn of_load(live: &Live, text: fn(&agent_exec::control::Load) -> String) -> String {
    live.row.load.as_ref().map_or_else(|| "?".to_owned(), text)
}

/// A sandbox that shares this machine's network has no countable denials.
fn denied(live: &Live) -> String {
    let denials = live.row.load.and_then(|load| load.network_denials);
    denials.map_or_else(|| "-".to_owned(), |count| count.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(width: u16) -> Vec<&'static str> {
        columns(width).iter().map(|column| column.name).collect()
    }

    /// R90
    #[test]
    fn columns_are_left_out_and_never_cut() {
        assert_eq!(names(80), ["RUN", "SANDBOX", "CPU%", "MEM", "PIDS", "DENIED", "AGE", "COMMAND"]);
        assert_eq!(names(WIDE)[2], "OWNER");
        assert_eq!(names(60), ["RUN", "CPU%", "MEM", "PIDS", "DENIED", "COMMAND"]);
        assert_eq!(names(30), ["RUN", "COMMAND"]);
        for width in 27..WIDE {
            assert!(room(&columns(width)) <= width, "{width}");
        }
        assert_eq!(names(0), ["RUN", "COMMAND"]);
    }
}
