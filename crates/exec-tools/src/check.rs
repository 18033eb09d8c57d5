//! Checks arguments against a tool's schema. All mistakes are reported at once, in words that help a model correct
//! them. Pure.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Definition;
use crate::tool::nearest;

/// Parses the arguments, or describes what is wrong with them.
pub(crate) fn parse<T: DeserializeOwned>(definition: &Definition, arguments: &Value) -> Result<T, String> {
    let empty = Map::new();
    let given = match arguments {
        Value::Object(given) => given,
        Value::Null => &empty,
        other => {
            return Err(complain(
                definition,
                &[format!("the arguments must be an object, not {}", kind(other))],
            ));
        }
    };
    // Some models pass null for an omitted argument.
    let given: Map<String, Value> =
        given.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect();
    let mistakes = mistakes(&definition.input_schema, &given);
    if !mistakes.is_empty() {
        return Err(complain(definition, &mistakes));
    }
    serde_json::from_value(Value::Object(given)).map_err(|error| complain(definition, &[error.to_string()]))
}

fn complain(definition: &Definition, mistakes: &[String]) -> String {
    format!(
        "{}: {}. Nothing was run. A valid call: {}",
        definition.tool,
        mistakes.join("; "),
        definition.example
    )
}

fn mistakes(schema: &Map<String, Value>, given: &Map<String, Value>) -> Vec<String> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing = required
        .filter_map(Value::as_str)
        .filter(|name| !given.contains_key(*name))
        .map(|name| format!("`{name}` is missing"));
    let wrong = given.iter().filter_map(|(name, value)| match properties.get(name) {
        Some(property) => mistake(name, property, value),
        None => Some(unknown(name, properties)),
    });
    missing.chain(wrong).collect()
}

fn unknown(name: &str, properties: &Map<String, Value>) -> String {
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("unknown argument `{name}`, did you mean `{near}`?"),
        None if names.is_empty() => format!("unknown argument `{name}`; the tool takes none"),
        None => format!("unknown argument `{name}`; the arguments are {}", names.join(", ")),
    }
}

fn mistake(name: &str, property: &Value, value: &Value) -> Option<String> {
    let wanted = property.get("type").and_then(Value::as_str)?;
    let fits = match wanted {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_u64().is_some(),
        "number" => value.as_f64().is_some_and(|number| number >= 0.0),
        _ => true,
    };
    if !fits {
        let wanted = match wanted {
            "string" => "a text",
            "boolean" => "true or false",
            "integer" => "a whole number that is not negative",
            _ => "a number that is not negative",
        };
        return Some(format!("`{name}` must be {wanted}, not {}", kind(value)));
    }
    let most = property.get("maximum").and_then(Value::as_f64)?;
    let number = value.as_f64()?;
    (number > most).then(|| format!("`{name}` may be at most {most} here, which {}", who_raises(name)))
}

fn who_raises(name: &str) -> &'static str {
    match name {
        "timeout_seconds" => {
            "only the operator can raise, with the option `timeout`; use start_command for what takes longer"
        }
        "max_output_bytes" => {
            "only the operator can raise, with the option `reply_size`; use save_output for all of it"
        }
        _ => "is fixed",
    }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let start: String = text.chars().take(40).collect();
            let more = if text.chars().nth(40).is_some() { "…" } else { "" };
            format!("the text {start:?}{more}")
        }
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
