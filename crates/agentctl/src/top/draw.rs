//! The picture: a line of totals, the table, a line about the selected row, a line of keys. Useful from 80
//! columns on.

use std::collections::HashSet;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Row as TableRow, Table, TableState};

use super::columns::{Column, columns};
use super::model::{Live, Model};
use crate::output::ps::memory;

/// The keys and their actions, each beginning with its letter.
const SORT_KEYS: [&str; 6] = ["cpu", "mem", "pids", "denied", "age", "name"];
const OTHER_KEYS: [&str; 4] = ["reverse", "warm", "kill", "quit"];

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// Draws the view.
pub(crate) fn draw(frame: &mut Frame<'_>, model: &Model) {
    let one = Constraint::Length(1);
    let [head, table, chosen, foot] =
        Layout::vertical([one, Constraint::Min(2), one, one]).areas(frame.area());
    frame.render_widget(Paragraph::new(summary(model)), head);
    rows(frame, model, table);
    frame.render_widget(Paragraph::new(detail(model)), chosen);
    frame.render_widget(Paragraph::new(bottom(model)), foot);
}

fn summary(model: &Model) -> Line<'static> {
    let mut cells = HashSet::new();
    let of_cells = model.rows().iter().filter(|live| cells.insert(&live.row.cell));
    let (cpu, bytes) = of_cells.fold((0.0, 0), |(cpu, bytes): (f64, u64), live| {
        let used = live.row.load.map_or(0, |load| load.memory_bytes);
        (cpu + live.cpu.unwrap_or(0.0), bytes.saturating_add(used))
    });
    let text = format!("agentctl top  {} shown  CPU {cpu:.0}%  memory {}", model.rows().len(), memory(bytes));
    let stopped = "  EMERGENCY STOP IN FORCE: agentctl resume";
    let alarm = model.latched.then(|| Span::styled(stopped, BOLD.add_modifier(Modifier::REVERSED)));
    [Span::styled(text, BOLD)].into_iter().chain(alarm).collect()
}

/// Details that do not fit into the table.
fn detail(model: &Model) -> Line<'static> {
    let chosen = model.chosen().and_then(|at| model.rows().get(at));
    let Some(Live { row, .. }) = chosen else { return Line::default() };
    Line::styled(format!("{}  owner {}  {}", row.name, row.owner, row.command), DIM)
}

fn bottom(model: &Model) -> Line<'static> {
    let alarm = BOLD.add_modifier(Modifier::REVERSED);
    match (&model.asked, &model.message) {
        (Some(name), _) => Line::styled(format!("kill {name}? y kills, any other key does not"), alarm),
        (None, Some(message)) => Line::styled(message.clone(), BOLD),
        (None, None) => keys(),
    }
}

fn keys() -> Line<'static> {
    let named = |word: &'static str| {
        let (key, rest) = word.split_at(1);
        [Span::styled(key, BOLD.add_modifier(Modifier::UNDERLINED)), Span::raw(rest), Span::raw(" ")]
    };
    let plain = |text: &'static str| [Span::raw(text)];
    plain("↑↓ choose  sort: ")
        .into_iter()
        .chain(SORT_KEYS.into_iter().flat_map(named))
        .chain(plain(" "))
        .chain(OTHER_KEYS.into_iter().flat_map(named))
        .collect()
}

fn rows(frame: &mut Frame<'_>, model: &Model, area: Rect) {
    if model.rows().is_empty() {
        frame.render_widget(Paragraph::new("nothing runs"), area);
        return;
    }
    let columns = columns(area.width);
    let head = columns.iter().map(|column| column.head(model));
    let lines = model.rows().iter().map(|live| TableRow::new(columns.iter().map(|column| column.cell(live))));
    let table = Table::new(lines, columns.iter().map(Column::constraint))
        .header(TableRow::new(head).style(BOLD.add_modifier(Modifier::UNDERLINED)))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = TableState::default().with_selected(model.chosen());
    frame.render_stateful_widget(table, area, &mut state);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyModifiers};

    use super::super::model::tests::model;
    use super::*;

    fn picture(model: &Model, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, model)).unwrap();
        terminal.backend().to_string()
    }

    /// R90
    #[test]
    fn it_is_useful_at_80_columns() {
        let mut model = model();
        model.key(KeyCode::Char('c'), KeyModifiers::NONE);
        let picture = picture(&model, 80, 24);
        let lines: Vec<&str> = picture.lines().collect();
        assert!(lines[0].contains("3 shown") && lines[0].contains("302.0M"), "{picture}");
        for head in ["RUN", "SANDBOX", "CPU%▼", "MEM", "PIDS", "DENIED", "AGE", "COMMAND"] {
            assert!(lines[1].contains(head), "{head}: {picture}");
        }
        for shown in ["a ", "local", "99.5", "2.0M", " 0 ", "1h06m", "cargo test --pa"] {
            assert!(lines[2].contains(shown), "{shown}: {picture}");
        }
        assert!(lines[3].contains(" - "), "denials that are unknown: {picture}");
        assert!(
            lines[22].contains("a  owner 4711  cargo test --package a"),
            "what has no room above: {picture}"
        );
        assert!(
            lines[23].contains("sort: cpu mem pids denied age name") && lines[23].contains("quit"),
            "{picture}"
        );
    }

    #[test]
    fn a_wide_terminal_shows_owners() {
        let picture = picture(&model(), 200, 50);
        let lines: Vec<&str> = picture.lines().collect();
        assert!(lines[1].contains("OWNER"), "{picture}");
        assert!(lines[2].contains("4711") && lines[2].contains("cargo test --package b"), "{picture}");
    }

    #[test]
    fn an_empty_view_shows_no_runs() {
        assert!(picture(&Model::default(), 80, 5).contains("nothing runs"));
    }

    /// Runs of a session share a cell, whose usage counts once.
    #[test]
    fn a_cell_counts_once() {
        let mut model = model();
        model.share_a_cell();
        assert!(picture(&model, 80, 24).contains("CPU 1%  memory 300.0M"), "{}", picture(&model, 80, 24));
    }

    #[test]
    fn a_tiny_terminal_is_not_an_error() {
        picture(&model(), 5, 2);
        picture(&model(), 1, 1);
    }
}
