//! A document as a tree in which everything knows where it stands, whatever it was written in.

use std::fmt;

/// A place in a text, counted from 1 in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Position {
    /// Where a text begins.
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The place of a byte.
    pub(crate) fn of_byte(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) at: Position,
    pub(crate) data: Data,
}

/// What the formats have in common. A number is kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Data {
    Null,
    Switch(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
}

/// One value of a table, under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) at: Position,
    pub(crate) value: Node,
}

impl Node {
    /// What it is, for whoever wanted something else.
    pub(crate) fn kind(&self) -> &'static str {
        match self.data {
            Data::Null => "nothing",
            Data::Switch(_) => "true or false",
            Data::Number(_) => "a number",
            Data::Text(_) => "text",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        let text = "a\nü = 1\n";
        assert_eq!(Position::of_byte(text, text.find('=').unwrap()), Position { line: 2, column: 3 });
        assert_eq!(Position::of_byte(text, 99), Position { line: 3, column: 1 });
    }
}
