//! Tools for models to run commands in a sandbox, for function-calling APIs and for MCP.
//!
//! A [`Toolbox`] combines an executor and the operator's options. It defines the tools, as JSON Schemas with a
//! description of what is possible in this sandbox, and carries out their calls:
//!
//! ```no_run
//! use std::sync::Arc;
//! use exec_core::{ExecOpts, Executor};
//! use exec_tools::{Bounds, Toolbox, ToolCall};
//!
//! # async fn example(executor: Arc<dyn Executor>, from_the_model: serde_json::Value) -> exec_core::Result<()> {
//! let toolbox = Toolbox::new(executor, ExecOpts::in_workspace("/srv/project"), Bounds::default())?;
//! let tools: Vec<_> = toolbox.definitions().iter().map(|tool| tool.to_openai()).collect();
//! // Sent to the model, which answers with a name and arguments.
//! let reply = toolbox.call(&ToolCall::new("run_command", from_the_model), &()).await;
//! println!("{}", reply.text);
//! # Ok(())
//! # }
//! ```
//!
//! A model's arguments can only narrow the operator's options: a shorter timeout, a directory within the workspace,
//! less output. Image, mounts, network, limits and environment are not arguments at all.
//!
//! All commands of a toolbox share one session: `/tmp` and background processes persist between calls, and end with
//! it.

mod args;
mod background;
mod check;
mod definition;
mod describe;
mod explain;
mod operator_policy;
mod output;
mod reply;
mod save;
mod spelling;
mod tool;
mod toolbox;

pub use args::{ReadOutput, RunCommand, SandboxStatus, StartCommand, StopCommand, WriteInput};
pub use definition::Definition;
pub use reply::ToolReply;
pub use tool::Tool;
pub use toolbox::{Bounds, ToolCall, Toolbox, Watch};
