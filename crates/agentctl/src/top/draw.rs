//! The picture: a line of sums, the table, a line of keys. Useful from 80 columns on.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row as TableRow, Table, TableState};

use super::model::{Live, Model, Order};
use crate::output::ps::{age, memory};

const KEYS: &str = "↑↓ choose  sort: c m p a n  r reverse  w warm  k kill  q leave";

/// The room for a sandbox's owner; only wide terminals show it.
const WIDE: u16 = 110;

/// Draws it.
pub(crate) fn draw(frame: &mut Frame<'_>, model: &Model) {
    let [head, table, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(summary(model)), head);
    rows(frame, model, table);
    frame.render_widget(Paragraph::new(bottom(model)).style(Style::new().add_modifier(Modifier::DIM)), foot);
}

fn summary(model: &Model) -> Line<'static> {
    let sum = |of: fn(&Live) -> f64| model.rows().iter().map(of).sum::<f64>();
    let cpu = sum(|live| live.cpu.unwrap_or(0.0));
    let bytes = sum(|live| live.row.load.map_or(0.0, |load| load.memory_bytes as f64));
    let stopped = if model.latched { "  EMERGENCY STOP IN FORCE: agentctl resume" } else { "" };
    let text = format!(
        "agentctl top  {} shown  CPU {cpu:.0}%  memory {}{stopped}",
        model.rows().len(),
        memory(bytes as u64)
    );
    Line::styled(text, Style::new().add_modifier(Modifier::BOLD))
}

fn bottom(model: &Model) -> String {
    match (&model.asked, &model.message) {
        (Some(name), _) => format!("kill {name}? y kills, any other key does not"),
        (None, Some(message)) => message.clone(),
        (None, None) => KEYS.to_owned(),
    }
}

fn rows(frame: &mut Frame<'_>, model: &Model, area: Rect) {
    if model.rows().is_empty() {
        frame.render_widget(Paragraph::new("nothing runs"), area);
        return;
    }
    let is_wide = area.width >= WIDE;
    let mark = |order: Order, name: &str| {
        let arrow = if model.reversed { "▲" } else { "▼" };
        if model.order == order { format!("{name}{arrow}") } else { name.to_owned() }
    };
    let mut head = vec![mark(Order::Name, "RUN"), "SANDBOX".to_owned()];
    let mut widths = vec![Constraint::Length(if is_wide { 28 } else { 16 }), Constraint::Length(7)];
    if is_wide {
        head.push("OWNER".to_owned());
        widths.push(Constraint::Length(16));
    }
    head.extend([
        mark(Order::Cpu, "CPU%"),
        mark(Order::Memory, "MEM"),
        mark(Order::Processes, "PIDS"),
        mark(Order::Age, "AGE"),
        "COMMAND".to_owned(),
    ]);
    widths.extend([6, 7, 5, 7].map(Constraint::Length));
    widths.push(Constraint::Min(10));
    let lines = model.rows().iter().map(|live| line(live, is_wide));
    let table = Table::new(lines, widths)
        .header(TableRow::new(head).style(Style::new().add_modifier(Modifier::UNDERLINED)))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = TableState::default().with_selected(model.chosen());
    frame.render_stateful_widget(table, area, &mut state);
}

fn line(live: &Live, is_wide: bool) -> TableRow<'static> {
    let row = &live.row;
    let mut cells = vec![row.name.clone(), row.sandbox.clone()];
    if is_wide {
        cells.push(row.owner.clone());
    }
    cells.push(live.cpu.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.1}")));
    match row.load {
        Some(load) => cells.extend([memory(load.memory_bytes), load.processes.to_string()]),
        None => cells.extend(["?".to_owned(), "?".to_owned()]),
    }
    cells.extend([age(row.age), row.command.clone()]);
    TableRow::new(cells.into_iter().map(Cell::from))
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
        let picture = picture(&model, 80, 8);
        let lines: Vec<&str> = picture.lines().collect();
        assert!(lines[0].contains("3 shown") && lines[0].contains("302.0M"), "{picture}");
        for head in ["RUN", "SANDBOX", "CPU%▼", "MEM", "PIDS", "AGE", "COMMAND"] {
            assert!(lines[1].contains(head), "{head}: {picture}");
        }
        for shown in ["a ", "local", "99.5", "2.0M", "1h06m", "cargo test --package a"] {
            assert!(lines[2].contains(shown), "{shown}: {picture}");
        }
        assert!(lines[7].contains("q leave"), "{picture}");
    }

    #[test]
    fn a_wide_terminal_shows_owners() {
        assert!(picture(&model(), 200, 10).contains("OWNER"));
        assert!(picture(&Model::default(), 80, 5).contains("nothing runs"));
    }

    #[test]
    fn a_tiny_terminal_is_no_error() {
        picture(&model(), 5, 2);
        picture(&model(), 1, 1);
    }
}
