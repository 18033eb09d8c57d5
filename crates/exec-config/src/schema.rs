//! The schema of a document, for editors.

use serde_json::{Map, Value, json};

use crate::key::{KEYS, SECTION_KEYS, Shape};
use crate::layer::Engine;
use crate::values::UNLIMITED;

/// JSON Schema of a document, in a draft that every editor supports.
pub fn schema() -> Value {
    let mut properties: Map<String, Value> =
        KEYS.iter().map(|key| (key.name.to_owned(), described(&key.shape, key.about))).collect();
    properties.insert("$schema".to_owned(), json!({"type": "string"}));
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "agentctl",
        "description": "How agentctl runs commands. The same keys in TOML, YAML and JSON.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "allOf": [{
            "if": {"properties": {"workspace_mode": {"const": "rw"}}, "required": ["workspace_mode"]},
            "then": {"properties": {"write_paths": {"maxItems": 0}}},
        }],
    })
}

fn described(shape: &Shape, about: &str) -> Value {
    let mut schema = of_shape(shape);
    schema["description"] = json!(about);
    schema
}

fn of_shape(shape: &Shape) -> Value {
    let text = |pattern: &str| json!({"type": "string", "pattern": pattern});
    match shape {
        Shape::Executor => executor(),
        Shape::Switch => json!({"type": "boolean"}),
        Shape::Words(words) => json!({"type": "string", "enum": words}),
        Shape::Text => json!({"type": "string", "minLength": 1}),
        Shape::Gpus => {
            json!({"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 1}, text("^[1-9][0-9]*$")]})
        }
        Shape::User => json!({"anyOf": [{"type": "integer", "minimum": 0}, text("^[0-9]+(:[0-9]+)?$")]}),
        Shape::Size => json!({"anyOf": [
            {"type": "integer", "minimum": 1},
            {"const": UNLIMITED},
            text("^[0-9]+(\\.[0-9]+)? *([bB]|[kKmMgGtT]([iI]?[bB])?)?$"),
        ]}),
        Shape::Cpus => json!({"anyOf": [
            {"type": "number", "minimum": 0.01, "maximum": 8192},
            {"const": UNLIMITED},
            text("^[0-9]+(\\.[0-9]+)?$"),
        ]}),
        Shape::Count => {
            json!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": UNLIMITED}, text("^[0-9]+$")]})
        }
        Shape::Time => {
            json!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": UNLIMITED}, text(TIME)]})
        }
        Shape::Span => json!({"anyOf": [{"type": "integer", "minimum": 1}, text(TIME)]}),
        Shape::List => json!({"type": "array", "items": {"type": "string"}}),
        Shape::Env => json!({"anyOf": [
            {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
            {"type": "array", "items": {"type": "string", "pattern": "^[^=]+(=|$)"}},
        ]}),
        Shape::Tmpfs => json!({"anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "string", "pattern": "^/(tmp|run)(:|$)"}},
            {
                "type": "object",
                "properties": {"/tmp": {"type": ["string", "integer", "null"]}, "/run": {"type": ["string", "integer", "null"]}},
                "additionalProperties": false,
            },
        ]}),
    }
}

const TIME: &str = "^[0-9]+$|^([0-9]+ *[a-z]+ *)+$";

fn executor() -> Value {
    let words = json!({"type": "string", "enum": ["auto", "docker", "podman", "local"]});
    let mut properties = Map::from_iter([("type".to_owned(), words.clone())]);
    for engine in Engine::ALL {
        let keys = SECTION_KEYS.iter().filter(|key| engine.has_images() || key.name != "image");
        let section: Map<String, Value> =
            keys.map(|key| (key.name.to_owned(), described(&key.shape, key.about))).collect();
        let section = json!({"type": "object", "properties": section, "additionalProperties": false});
        properties.insert(engine.to_string(), section);
    }
    json!({"anyOf": [words, {"type": "object", "properties": properties, "additionalProperties": false}]})
}
