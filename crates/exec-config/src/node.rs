//! A document as a tree in which every node knows its position, independent of the format.

use std::fmt;

/// A position in a text, counted from 1 in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Position {
    /// The start of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    fn after(self, c: char) -> Self {
        match c {
            '\n' => Self { line: self.line + 1, column: 1 },
            _ => Self { column: self.column + 1, ..self },
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Finds positions in a text without scanning it from the start each time: the author of the file controls how many
/// there are to find, and how long its lines are.
pub(crate) struct Places<'a> {
    text: &'a str,
    /// Every line's start, and marks within long lines. Never empty.
    marks: Vec<(usize, Position)>,
}

impl<'a> Places<'a> {
    /// Bytes between two marks in a line.
    const STEP: usize = 256;

    pub(crate) fn of(text: &'a str) -> Self {
        let (mut marks, mut at) = (vec![(0, Position::START)], Position::START);
        let mut marked = 0;
        for (byte, c) in text.char_indices() {
            if at.column == 1 || byte >= marked + Self::STEP {
                marks.push((byte, at));
                marked = byte;
            }
            at = at.after(c);
        }
        marks.push((text.len(), at));
        Self { text, marks }
    }

    /// The position of a byte; a byte beyond the text maps to its end.
    pub(crate) fn of_byte(&self, byte: usize) -> Position {
        let after = self.marks.partition_point(|(mark, _)| *mark <= byte);
        let (mark, at) = self.marks.get(after.saturating_sub(1)).copied().unwrap_or((0, Position::START));
        self.text.get(mark..byte).unwrap_or_default().chars().fold(at, Position::after)
    }
}

/// A value and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its position.
    pub at: Position,
    /// The value.
    pub data: Data,
}

/// The data model the formats share. A number is kept as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Nothing.
    Null,
    /// True or false.
    Switch(bool),
    /// A number.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table, its members in the order they were written.
    Table(Vec<Member>),
}

/// One value of a table, under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The name.
    pub name: String,
    /// The position of the name.
    pub at: Position,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The kind of value, for error messages.
    pub fn kind(&self) -> &'static str {
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
        let places = Places::of(text);
        assert_eq!(places.of_byte(text.find('=').unwrap()), Position { line: 2, column: 3 });
        assert_eq!(places.of_byte(99), Position { line: 3, column: 1 });
        assert_eq!(Places::of("").of_byte(0), Position::START);
    }

    /// A38: every position is near a mark, however the text is broken into lines.
    #[test]
    fn long_lines_have_marks() {
        let text = "ü".repeat(1000) + "\n" + &"x".repeat(3000);
        let places = Places::of(&text);
        for (byte, line, column) in
            [(0, 1, 1), (2, 1, 2), (1998, 1, 1000), (2000, 1, 1001), (2001, 2, 1), (5000, 2, 3000)]
        {
            assert_eq!(places.of_byte(byte), Position { line, column }, "{byte}");
        }
        let longest = places.marks.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap();
        assert!(longest <= Places::STEP + 4, "{longest}");
    }
}
