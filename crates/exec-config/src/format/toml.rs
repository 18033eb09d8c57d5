//! TOML.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::fault::Fault;
use crate::node::{Data, Member, Node, Places, Position};

pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let places = Places::of(text);
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(Position::START, |span| places.of_byte(span.start));
        Fault::new(at, format!("not valid TOML: {}", error.message()))
    })?;
    Ok(Node { at: Position::START, data: table(&places, document.get_ref()) })
}

fn table(places: &Places<'_>, table: &DeTable<'_>) -> Data {
    let member = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &Spanned<std::borrow::Cow<'_, str>> = name;
        Member {
            name: name.get_ref().clone().into_owned(),
            at: places.of_byte(name.span().start),
            value: node(places, value),
        }
    };
    Data::Table(table.iter().map(member).collect())
}

fn node(places: &Places<'_>, value: &Spanned<DeValue<'_>>) -> Node {
    let data = match value.get_ref() {
        DeValue::String(string) => Data::Text(string.clone().into_owned()),
        DeValue::Integer(integer) => Data::Number(decimal(integer)),
        DeValue::Float(float) => Data::Number(float.as_str().to_owned()),
        DeValue::Boolean(switch) => Data::Switch(*switch),
        DeValue::Datetime(time) => Data::Text(time.to_string()),
        DeValue::Array(items) => Data::List(items.iter().map(|item| node(places, item)).collect()),
        DeValue::Table(inner) => table(places, inner),
    };
    Node { at: places.of_byte(value.span().start), data }
}

fn decimal(integer: &DeInteger<'_>) -> String {
    match i128::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(number) => number.to_string(),
        Err(_) => integer.to_string(),
    }
}
