//! The part of YAML that a configuration needs: no references, no tags, one document.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use super::DEEPEST;
use crate::fault::Fault;
use crate::node::{Data, Member, Node, Position};

pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            Fault::new(position(error.marker()), format!("not valid YAML: {}", error.info()))
        })?;
        builder.take(event, span)?;
    }
    let empty = Node { at: Position::START, data: Data::Table(Vec::new()) };
    // A document of comments alone is a null; it counts as an empty table.
    Ok(builder.root.filter(|root| root.data != Data::Null).unwrap_or(empty))
}

fn position(marker: &Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

/// A list or table that is still open.
struct Open {
    at: Position,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    /// With the name whose value comes next.
    Table(Vec<Member>, Option<(String, Position)>),
}

#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<Open>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let at = position(&span.start);
        match event {
            Event::Alias(_) => {
                Err(Fault::new(at, "references (`*name`) are not read here: write the value out"))
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                Err(Fault::new(at, "tags (`!name`) are not read here: leave it out"))
            }
            Event::Scalar(text, style, _, None) => {
                let data = match style {
                    ScalarStyle::Plain => scalar(&text),
                    _ => Data::Text(text.into_owned()),
                };
                self.add(Node { at, data })
            }
            Event::SequenceStart(..) => self.begin(at, OpenKind::List(Vec::new())),
            Event::MappingStart(..) => self.begin(at, OpenKind::Table(Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(Fault::new(at, "a second document begins here: a configuration is one"))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, at: Position, kind: OpenKind) -> Result<(), Fault> {
        if self.open.len() == DEEPEST {
            return Err(Fault::new(at, "this is nested too deeply"));
        }
        self.open.push(Open { at, kind });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some(Open { at, kind }) = self.open.pop() else { return Ok(()) };
        let data = match kind {
            OpenKind::List(items) => Data::List(items),
            OpenKind::Table(members, _) => Data::Table(members),
        };
        self.add(Node { at, data })
    }

    fn add(&mut self, node: Node) -> Result<(), Fault> {
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Table(members, name)) => match name.take() {
                Some((name, at)) => members.push(Member { name, at, value: node }),
                None => *name = Some((name_of(&node)?, node.at)),
            },
        }
        Ok(())
    }
}

fn name_of(node: &Node) -> Result<String, Fault> {
    match &node.data {
        Data::Text(text) | Data::Number(text) => Ok(text.clone()),
        Data::Switch(switch) => Ok(switch.to_string()),
        Data::Null | Data::List(_) | Data::Table(_) => {
            Err(Fault::new(node.at, format!("a key is text, this is {}", node.kind())))
        }
    }
}

/// Resolves an unquoted word by YAML's core schema: `yes` and `no` are text.
pub(crate) fn scalar(text: &str) -> Data {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Data::Null,
        "true" | "True" | "TRUE" => Data::Switch(true),
        "false" | "False" | "FALSE" => Data::Switch(false),
        _ if is_number(text) => Data::Number(text.to_owned()),
        _ => Data::Text(text.to_owned()),
    }
}

/// Rust parses `inf` and `nan` as numbers; YAML reads them as words.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.parse::<f64>().is_ok()
}
