//! What is shown, how it is sorted and what is selected. Pure.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Instant;

use agent_exec::control::CellView;
use exec_core::printable;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use crate::output::ps::{self, Row};

/// A key's request beyond the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    None,
    /// An immediate refresh.
    Look,
    Leave,
    /// The run or cell of this name.
    Kill(String),
}

/// The sort order of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    Cpu,
    Memory,
    Processes,
    Denials,
    Age,
    Name,
}

/// A row with figures that need two refreshes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Live {
    pub(crate) row: Row,
    /// Processor time per time, in percent of one processor; none after the first refresh.
    pub(crate) cpu: Option<f64>,
}

/// The state of the view.
#[derive(Debug, Default)]
pub(crate) struct Model {
    rows: Vec<Live>,
    before: HashMap<String, (u64, Instant)>,
    pub(crate) order: Order,
    pub(crate) reversed: bool,
    warm: bool,
    /// The name of the selected row, so that it stays selected wherever it moves.
    chosen: Option<String>,
    /// The run to kill, if the user confirms.
    pub(crate) asked: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) latched: bool,
}

impl Model {
    /// Applies a refresh.
    pub(crate) fn update(&mut self, cells: &[CellView], latched: bool, now: Instant) {
        self.latched = latched;
        let rows = ps::rows(cells, self.warm);
        let used = |row: &Row| row.load.map_or(0, |load| load.cpu_ms);
        let live = rows.into_iter().map(|row| {
            let before = self.before.get(&row.name);
            let cpu = before.and_then(|(cpu_ms, at)| rate(*cpu_ms, used(&row), now.duration_since(*at)));
            Live { row, cpu }
        });
        self.rows = live.collect();
        self.before = self.rows.iter().map(|live| (live.row.name.clone(), (used(&live.row), now))).collect();
        self.sort();
    }

    /// The rows in their order.
    pub(crate) fn rows(&self) -> &[Live] {
        &self.rows
    }

    /// The index of the selected row: the first by default.
    pub(crate) fn chosen(&self) -> Option<usize> {
        let named =
            self.chosen.as_ref().and_then(|name| self.rows.iter().position(|live| live.row.name == *name));
        named.or((!self.rows.is_empty()).then_some(0))
    }

    /// A message to show until the next key.
    pub(crate) fn show_message(&mut self, message: &str) {
        self.message = Some(printable::line(message).into_owned());
    }

    /// Applies a key.
    pub(crate) fn key(&mut self, key: KeyCode, modifiers: KeyModifiers) -> Action {
        self.message = None;
        if key == KeyCode::Char('c') && modifiers.contains(KeyModifiers::CONTROL) {
            return Action::Leave;
        }
        if let Some(name) = self.asked.take() {
            return if key == KeyCode::Char('y') { Action::Kill(name) } else { Action::None };
        }
        match key {
            KeyCode::Char('q') | KeyCode::Esc => return Action::Leave,
            KeyCode::Up => self.choose(-1),
            KeyCode::Down => self.choose(1),
            KeyCode::Char('c') => self.order_by(Order::Cpu),
            KeyCode::Char('m') => self.order_by(Order::Memory),
            KeyCode::Char('p') => self.order_by(Order::Processes),
            KeyCode::Char('d') => self.order_by(Order::Denials),
            KeyCode::Char('a') => self.order_by(Order::Age),
            KeyCode::Char('n') => self.order_by(Order::Name),
            KeyCode::Char('r') => {
                self.reversed = !self.reversed;
                self.sort();
            }
            KeyCode::Char('w') => {
                self.warm = !self.warm;
                return Action::Look;
            }
            KeyCode::Char('k') => {
                self.asked =
                    self.chosen().and_then(|at| self.rows.get(at)).map(|live| live.row.target.clone());
            }
            _ => {}
        }
        Action::None
    }

    fn choose(&mut self, step: isize) {
        let Some(at) = self.chosen() else { return };
        let next = at.saturating_add_signed(step).min(self.rows.len() - 1);
        self.chosen = self.rows.get(next).map(|live| live.row.name.clone());
    }

    fn order_by(&mut self, order: Order) {
        (self.order, self.reversed) = (order, false);
        self.sort();
    }

    /// The largest first; names alphabetically.
    fn sort(&mut self) {
        let load = |live: &Live| live.row.load.unwrap_or_default();
        match self.order {
            Order::Cpu => self.rows.sort_by(|a, b| {
                let (a, b) = (a.cpu.unwrap_or(0.0), b.cpu.unwrap_or(0.0));
                b.total_cmp(&a)
            }),
            Order::Memory => self.rows.sort_by_key(|live| Reverse(load(live).memory_bytes)),
            Order::Processes => self.rows.sort_by_key(|live| Reverse(load(live).processes)),
            Order::Denials => self.rows.sort_by_key(|live| Reverse(load(live).network_denials)),
            Order::Age => self.rows.sort_by_key(|live| Reverse(live.row.age)),
            Order::Name => self.rows.sort_by(|a, b| a.row.name.cmp(&b.row.name)),
        }
        if self.reversed {
            self.rows.reverse();
        }
    }
}

fn rate(before: u64, now: u64, passed: std::time::Duration) -> Option<f64> {
    let passed = passed.as_secs_f64() * 1000.0;
    (passed > 0.0).then(|| now.saturating_sub(before) as f64 / passed * 100.0)
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use agent_exec::control::Load;

    use super::*;

    pub(in crate::top) fn live(name: &str, cpu: f64, memory: u64, denials: Option<u64>, age: u64) -> Live {
        let load = Load { processes: 3, cpu_ms: 0, memory_bytes: memory, network_denials: denials };
        let row = Row {
            name: name.into(),
            cell: format!("cell of {name}"),
            sandbox: "local".into(),
            owner: "4711".into(),
            age: Duration::from_secs(age),
            load: Some(load),
            command: format!("cargo test --package {name}"),
            target: name.into(),
        };
        Live { row, cpu: Some(cpu) }
    }

    pub(in crate::top) fn model() -> Model {
        let rows = vec![
            live("b", 1.0, 300 << 20, None, 5),
            live("a", 99.5, 2 << 20, Some(0), 4000),
            live("c", 0.0, 1 << 10, Some(12), 70),
        ];
        Model { rows, ..Model::default() }
    }

    impl Model {
        /// All rows are runs of one session.
        pub(in crate::top) fn share_a_cell(&mut self) {
            self.rows.iter_mut().for_each(|live| live.row.cell = "one".into());
        }
    }

    fn names(model: &Model) -> String {
        model.rows().iter().map(|live| live.row.name.as_str()).collect()
    }

    fn press(model: &mut Model, key: char) -> Action {
        model.key(KeyCode::Char(key), KeyModifiers::NONE)
    }

    #[test]
    fn keys_sort() {
        let mut model = model();
        let sorted = [('c', "abc"), ('m', "bac"), ('d', "cab"), ('a', "acb"), ('n', "abc"), ('r', "cba")];
        for (key, expected) in sorted {
            assert_eq!(press(&mut model, key), Action::None);
            assert_eq!(names(&model), expected, "{key}");
        }
    }

    #[test]
    fn the_selection_follows_its_row() {
        let mut model = model();
        press(&mut model, 'n');
        model.key(KeyCode::Down, KeyModifiers::NONE);
        model.key(KeyCode::Down, KeyModifiers::NONE);
        model.key(KeyCode::Down, KeyModifiers::NONE);
        assert_eq!(model.chosen(), Some(2));
        press(&mut model, 'r');
        assert_eq!(model.chosen(), Some(0), "it moved, and so did the choice");
    }

    /// R90
    #[test]
    fn killing_is_confirmed() {
        let mut model = model();
        press(&mut model, 'n');
        assert_eq!(press(&mut model, 'k'), Action::None);
        assert_eq!(press(&mut model, 'x'), Action::None);
        assert_eq!(press(&mut model, 'y'), Action::None, "it was not confirmed");
        press(&mut model, 'k');
        assert_eq!(press(&mut model, 'y'), Action::Kill("a".into()));
        assert_eq!(press(&mut model, 'q'), Action::Leave);
    }

    #[test]
    fn a_rate_is_percent_of_one_processor() {
        assert_eq!(rate(100, 600, Duration::from_secs(1)), Some(50.0));
        assert_eq!(rate(600, 100, Duration::from_secs(1)), Some(0.0));
        assert_eq!(rate(0, 1, Duration::ZERO), None);
    }
}
