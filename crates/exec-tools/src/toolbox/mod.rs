//! Carries out tool calls.

mod background;
mod run;
mod status;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use exec_core::{ByteSize, ExecOpts, Executor, Result, SessionName, Stream};
use serde_json::Value;
use tokio::sync::watch;

use crate::background::Background;
use crate::check;
use crate::definition::{self, Definition};
use crate::describe;
use crate::operator_policy::OperatorPolicy;
use crate::{Tool, ToolReply};

/// Bounds on what the tools keep and show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The most bytes of each output stream in one answer.
    pub output: ByteSize,
    /// The most bytes kept of a background command's output.
    pub log: ByteSize,
    /// The most background commands at once.
    pub commands: usize,
    /// The longest wait for output of a background command.
    pub longest_wait: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            output: ByteSize::bytes(32 * 1024),
            log: ByteSize::mib(1),
            commands: 16,
            longest_wait: Duration::from_secs(60),
        }
    }
}

/// A model's tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// The arguments, a JSON object.
    pub arguments: Value,
}

impl ToolCall {
    /// A call of this tool.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        Self { name: name.into(), arguments }
    }
}

/// Observes a command's output while it runs.
pub trait Watch: Send + Sync {
    /// Receives a piece of output. It is called from the run's own task and must not block.
    fn output(&self, stream: Stream, bytes: &Bytes);
}

/// Ignores all output.
impl Watch for () {
    fn output(&self, _: Stream, _: &Bytes) {}
}

/// The tools of one client, on one executor, within the operator's options.
#[derive(Debug)]
pub struct Toolbox {
    executor: Arc<dyn Executor>,
    policy: OperatorPolicy,
    place: String,
    definitions: Vec<Definition>,
    background: Background,
    closed: watch::Sender<bool>,
}

impl Toolbox {
    /// Creates a toolbox with all tools.
    ///
    /// # Errors
    ///
    /// Refuses invalid options.
    pub fn new(executor: Arc<dyn Executor>, opts: ExecOpts, bounds: Bounds) -> Result<Self> {
        let has = executor.capabilities();
        let session = has.sessions.then(new_session);
        let mode = opts.workspace.mode.clone();
        let background = Background::new(bounds.commands);
        let policy = OperatorPolicy::new(opts, bounds, session)?;
        let place = describe::place(executor.name(), has, policy.plan(), &mode);
        let definitions = definition::all(&policy, &place);
        Ok(Self { executor, policy, place, definitions, background, closed: watch::Sender::new(false) })
    }

    /// Restricts the toolbox to these tools; the others are neither listed nor carried out.
    #[must_use]
    pub fn only(mut self, tools: &BTreeSet<Tool>) -> Self {
        self.definitions.retain(|definition| tools.contains(&definition.tool));
        self
    }

    /// The definitions of all allowed tools.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Describes what is possible here, in words.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Carries out a call. Dropping the future kills the command it runs; background commands keep running.
    pub async fn call(&self, call: &ToolCall, watch: &dyn Watch) -> ToolReply {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            // In this order: a closed toolbox starts nothing.
            biased;
            _ = closed.wait_for(|closed| *closed) => ToolReply::refused("the sandbox is closed"),
            reply = self.dispatch(call, watch) => reply,
        }
    }

    async fn dispatch(&self, call: &ToolCall, watch: &dyn Watch) -> ToolReply {
        let definition = match self.definition(&call.name) {
            Ok(definition) => definition,
            Err(refusal) => return ToolReply::refused(refusal),
        };
        let arguments = &call.arguments;
        macro_rules! carry_out {
            ($method:ident $(, $more:expr)*) => {
                match check::parse(definition, arguments) {
                    Ok(arguments) => self.$method(arguments $(, $more)*).await.unwrap_or_else(Into::into),
                    Err(mistakes) => ToolReply::refused(mistakes),
                }
            };
        }
        match definition.tool {
            Tool::RunCommand => carry_out!(run, watch),
            Tool::StartCommand => carry_out!(start),
            Tool::ReadOutput => carry_out!(read),
            Tool::WriteInput => carry_out!(write),
            Tool::StopCommand => carry_out!(stop),
            Tool::SandboxStatus => carry_out!(status),
        }
    }

    fn definition(&self, name: &str) -> Result<&Definition, String> {
        if let Some(definition) = self.definitions.iter().find(|definition| definition.tool.name() == name) {
            return Ok(definition);
        }
        let names: Vec<&str> = self.definitions.iter().map(|definition| definition.tool.name()).collect();
        Err(match name.parse::<Tool>() {
            Ok(tool) => format!("the tool `{tool}` is not allowed here; allowed are {}", names.join(", ")),
            Err(_) => format!("unknown tool `{name}`; the tools are {}", names.join(", ")),
        })
    }

    /// Ends all calls, background commands and the session. Later calls are refused.
    pub async fn close(&self) -> Result<()> {
        self.closed.send_replace(true);
        self.background.clear();
        match self.policy.session() {
            Some(session) => self.executor.end_session(session).await,
            None => Ok(()),
        }
    }
}

/// A name unique among the clients of an executor.
fn new_session() -> SessionName {
    let random = RandomState::new().build_hasher().finish();
    SessionName::new(format!("tools-{}-{random:016x}", std::process::id()))
}
