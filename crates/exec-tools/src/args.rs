//! Arguments of tool calls. Models read these texts: each doc comment becomes part of a schema.

use schemars::JsonSchema;
use serde::Deserialize;

/// Arguments of `run_command`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCommand {
    /// What to run: a line or a script, read by `sh -c`. Set variables in it, like `RUST_LOG=debug cargo test`.
    pub command: String,
    /// The directory to run it in, relative to the workspace. Default: the workspace itself.
    pub cwd: Option<String>,
    /// Stop it after this many seconds.
    pub timeout_seconds: Option<f64>,
    /// What it reads on standard input. Default: nothing.
    pub stdin: Option<String>,
    /// Show at most this many bytes of each output stream: half from the beginning, half from the end.
    pub max_output_bytes: Option<u64>,
    /// Also write the whole output to this file, for searching long output afterwards. Relative to the working
    /// directory; /tmp is private to the sandbox.
    pub save_output: Option<String>,
}

/// Arguments of `start_command`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartCommand {
    /// What to run: a line or a script, read by `sh -c`.
    pub command: String,
    /// The directory to run it in, relative to the workspace. Default: the workspace itself.
    pub cwd: Option<String>,
    /// Stop it after this many seconds. Default: it runs until it ends, is stopped or you disconnect.
    pub timeout_seconds: Option<f64>,
    /// Give it a terminal, for programs that behave differently without one.
    pub terminal: Option<bool>,
}

/// Arguments of `read_output`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadOutput {
    /// Which command: the id that `start_command` returned.
    pub id: u64,
    /// Where to continue reading: the cursor that the last `read_output` returned. Default: the beginning.
    pub cursor: Option<u64>,
    /// If there is nothing new, wait up to this many seconds for it.
    pub wait_seconds: Option<f64>,
    /// Show at most this many bytes; the rest comes with the next call.
    pub max_output_bytes: Option<u64>,
}

/// Arguments of `write_input`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteInput {
    /// Which command: the id that `start_command` returned.
    pub id: u64,
    /// The input to write, with a line break at the end if it reads lines.
    pub input: Option<String>,
    /// Close its input after that.
    pub end: Option<bool>,
}

/// Arguments of `stop_command`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopCommand {
    /// Which command: the id that `start_command` returned.
    pub id: u64,
    /// Kill it at once instead of asking it to end first.
    pub force: Option<bool>,
}

/// Arguments of `sandbox_status`: none.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxStatus {}
