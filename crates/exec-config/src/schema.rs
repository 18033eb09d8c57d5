//! The schema of a document, for editors.

use serde_json::{Map, Value, json};

use crate::backend::Backend;
use crate::options::OPTIONS;

/// JSON Schema of a document, in a draft that every editor supports.
pub fn schema(backends: &[Backend]) -> Value {
    let mut properties: Map<String, Value> =
        OPTIONS.iter().map(|option| (option.name.to_owned(), option.schema(backends))).collect();
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
