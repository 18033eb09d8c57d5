//! Definitions of tools for function-calling APIs. Pure.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::Tool;
use crate::args::{ReadOutput, RunCommand, SandboxStatus, StartCommand, StopCommand, WriteInput};
use crate::operator_policy::OperatorPolicy;

/// A tool with everything a model needs to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The tool.
    pub tool: Tool,
    /// Its human-readable name.
    pub title: &'static str,
    /// What it does, and what is possible in this sandbox.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// A valid call.
    pub example: Value,
    /// Whether it has no side effects.
    pub read_only: bool,
}

impl Definition {
    /// The format of `OpenAI`'s chat completions and the many compatible APIs.
    pub fn to_openai(&self) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": self.tool.name(),
                "description": self.description,
                "parameters": self.input_schema,
            },
        })
    }

    /// The format of Anthropic's messages.
    pub fn to_anthropic(&self) -> Value {
        json!({
            "name": self.tool.name(),
            "description": self.description,
            "input_schema": self.input_schema,
        })
    }
}

/// All tools within this policy; `place` describes the sandbox.
pub(crate) fn all(policy: &OperatorPolicy, place: &str) -> Vec<Definition> {
    Tool::ALL.into_iter().map(|tool| define(tool, policy, place)).collect()
}

fn define(tool: Tool, policy: &OperatorPolicy, place: &str) -> Definition {
    let (title, description, example, read_only) = match tool {
        Tool::RunCommand => (
            "Run a command",
            format!("Runs a shell command in a sandbox and returns its output when it has ended.\n\n{place}"),
            json!({"command": "git status --short", "timeout_seconds": 20}),
            false,
        ),
        Tool::StartCommand => (
            "Start a background command",
            "Starts a shell command that goes on in the background, for servers, watchers and programs you talk to. \
             Same sandbox as run_command. Returns an id for read_output, write_input and stop_command."
                .to_owned(),
            json!({"command": "python3 -m http.server 8000"}),
            false,
        ),
        Tool::ReadOutput => (
            "Read a background command's output",
            "Returns the output of a background command since the cursor, whether it still runs, and the next cursor."
                .to_owned(),
            json!({"id": 1, "cursor": 0, "wait_seconds": 10}),
            true,
        ),
        Tool::WriteInput => (
            "Write to a background command",
            "Writes to a background command's standard input.".to_owned(),
            json!({"id": 1, "input": "yes\n"}),
            false,
        ),
        Tool::StopCommand => (
            "Stop a background command",
            "Stops a background command and everything it started, and reports how it ended.".to_owned(),
            json!({"id": 1}),
            false,
        ),
        Tool::SandboxStatus => (
            "Show the sandbox",
            "Reports what is possible in this sandbox, whether it works, and its background commands."
                .to_owned(),
            json!({}),
            true,
        ),
    };
    Definition { tool, title, description, input_schema: schema(tool, policy), example, read_only }
}

fn schema(tool: Tool, policy: &OperatorPolicy) -> Map<String, Value> {
    let mut schema = match tool {
        Tool::RunCommand => of::<RunCommand>(),
        Tool::StartCommand => of::<StartCommand>(),
        Tool::ReadOutput => of::<ReadOutput>(),
        Tool::WriteInput => of::<WriteInput>(),
        Tool::StopCommand => of::<StopCommand>(),
        Tool::SandboxStatus => of::<SandboxStatus>(),
    };
    let longest = match tool {
        Tool::StartCommand => policy.longest_in_background(),
        _ => policy.longest(),
    };
    let bounds = [
        ("timeout_seconds", longest.map(|time| json!(time.as_secs_f64()))),
        ("wait_seconds", Some(json!(policy.bounds().longest_wait.as_secs()))),
        ("max_output_bytes", Some(json!(policy.bounds().output.get()))),
    ];
    for (name, most) in bounds {
        if let (Some(property), Some(most)) = (property(&mut schema, name), most) {
            property.insert("maximum".to_owned(), most);
        }
    }
    schema
}

fn property<'a>(schema: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Map<String, Value>> {
    schema.get_mut("properties")?.get_mut(name)?.as_object_mut()
}

/// The schema of a type, in the simplest form: some APIs support neither references nor lists of types.
fn of<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.remove("title");
    schema.remove("description");
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(simplify);
    }
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}

/// An optional argument is not required, rather than nullable.
fn simplify(property: &mut Map<String, Value>) {
    property.remove("format");
    property.remove("default");
    if let Some(Value::Array(types)) = property.get("type")
        && let Some(kind) = types.iter().find(|kind| *kind != "null").cloned()
    {
        property.insert("type".to_owned(), kind);
    }
    if let Some(Value::String(text)) = property.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}
