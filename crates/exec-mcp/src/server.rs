//! Maps tools, calls and answers to MCP.

use std::sync::Arc;

use exec_tools::{Definition, ToolCall, ToolReply, Toolbox};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    MetaObject, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::progress::Progress;

/// Where the facts of an answer are: for programs, not for models.
const FACTS: &str = "agentctl/result";

/// A toolbox that speaks MCP. Copies share the toolbox.
#[derive(Debug, Clone)]
pub struct Server {
    toolbox: Arc<Toolbox>,
    version: &'static str,
}

impl Server {
    /// Serves this toolbox; clients see `version`.
    pub fn new(toolbox: Arc<Toolbox>, version: &'static str) -> Self {
        Self { toolbox, version }
    }

    pub(crate) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let place = self.toolbox.place();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("agentctl", self.version))
            .with_instructions(format!("Runs commands in a sandbox.\n{place}"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.toolbox.definitions().iter().map(to_tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.toolbox.definitions().iter().find(|definition| definition.tool.name() == name).map(to_tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = ToolCall::new(request.name, request.arguments.map_or(Value::Null, Value::Object));
        let progress = Progress::new(&context);
        tokio::select! {
            reply = self.toolbox.call(&call, &progress) => Ok(to_result(reply).into()),
            never = progress.tell() => match never {},
            // The call is dropped, which kills its command; the answer is not read.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }
}

fn to_tool(definition: &Definition) -> Tool {
    let annotations =
        ToolAnnotations::with_title(definition.title).read_only(definition.read_only).open_world(false);
    let annotations =
        if definition.read_only { annotations } else { annotations.destructive(true).idempotent(false) };
    Tool::new(definition.tool.name(), definition.description.clone(), definition.input_schema.clone())
        .with_title(definition.title)
        .with_annotations(annotations)
}

fn to_result(reply: ToolReply) -> CallToolResult {
    let content = vec![ContentBlock::text(reply.text)];
    let mut result =
        if reply.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    let mut meta = MetaObject::new();
    meta.0.insert(FACTS.to_owned(), reply.facts);
    result.meta = Some(meta);
    result
}
