//! JSON with comments and trailing commas; everything else is as strict as JSON is.

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::fault::Fault;
use crate::node::{Data, Member, Node, Places, Position};

const STRICT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let document = parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(|error| {
        let at = Position { line: error.line_display(), column: error.column_display() };
        Fault::new(at, format!("not valid JSON: {}", lower_first(&error.kind().to_string())))
    })?;
    // A text of comments alone is an empty table, as in the other formats.
    let empty = Node { at: Position::START, data: Data::Table(Vec::new()) };
    let places = Places::of(text);
    Ok(document.value.map_or(empty, |value| node(&places, value)))
}

fn node(places: &Places<'_>, value: Value<'_>) -> Node {
    let at = places.of_byte(value.start());
    let data = match value {
        Value::NullKeyword(_) => Data::Null,
        Value::BooleanLit(switch) => Data::Switch(switch.value),
        Value::NumberLit(number) => Data::Number(number.value.to_owned()),
        Value::StringLit(string) => Data::Text(string.value.into_owned()),
        Value::Array(list) => Data::List(list.elements.into_iter().map(|item| node(places, item)).collect()),
        Value::Object(object) => {
            let member = |name: ObjectPropName<'_>, value| {
                let at = places.of_byte(name.start());
                Member { at, name: name.into_string(), value: node(places, value) }
            };
            Data::Table(object.properties.into_iter().map(|prop| member(prop.name, prop.value)).collect())
        }
    };
    Node { at, data }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
