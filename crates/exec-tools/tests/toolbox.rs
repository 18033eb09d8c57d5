//! The tools as an orchestrator uses them from the library, in this machine's own sandbox.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::collections::BTreeSet;
use std::sync::Arc;

use exec_core::{Ended, ExecOpts, WorkspaceMode};
use exec_local::{LocalConfig, LocalExec};
use exec_tools::{Bounds, Tool, ToolCall, ToolReply, Toolbox};
use serde_json::{Value, json};
use tempfile::TempDir;

async fn toolbox(adjust: impl FnOnce(ExecOpts) -> ExecOpts) -> (TempDir, Toolbox) {
    let workspace = tempfile::tempdir().unwrap();
    let executor = LocalExec::new(LocalConfig { warm_cells: 0, ..LocalConfig::default() }).await.unwrap();
    let opts = adjust(ExecOpts::in_workspace(workspace.path()));
    let toolbox = Toolbox::new(Arc::new(executor), opts, Bounds::default()).unwrap();
    (workspace, toolbox)
}

async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolReply {
    toolbox.call(&ToolCall::new(name, arguments), &()).await
}

/// R81: definitions for function-calling APIs, in the plainest JSON Schema.
#[tokio::test]
async fn definitions_for_function_calling() {
    let (_workspace, toolbox) = toolbox(|opts| opts).await;
    let stop = toolbox.definitions().iter().find(|definition| definition.tool == Tool::StopCommand).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&stop.to_openai()).unwrap());
    assert_eq!(stop.to_anthropic()["input_schema"], stop.to_openai()["function"]["parameters"]);
    for definition in toolbox.definitions() {
        let schema = Value::Object(definition.input_schema.clone());
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        for property in schema["properties"].as_object().unwrap().values() {
            assert!(property["type"].is_string() && property["description"].is_string(), "{property}");
        }
        // The example of each tool is a valid call.
        assert!(
            schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .all(|name| definition.example.get(name.as_str().unwrap()).is_some())
        );
    }
}

/// R81: a call returns a result.
#[tokio::test]
async fn a_call_returns_a_result() {
    let (_workspace, toolbox) = toolbox(|opts| opts).await;
    let reply = call(&toolbox, "run_command", json!({"command": "echo out; exit 4"})).await;
    let result = reply.result.unwrap();
    assert_eq!(
        (result.ended(), result.exit_code(), &*result.stdout.bytes()),
        (Ended::Exited, Some(4), &b"out\n"[..])
    );
    assert!(!reply.is_error, "a failing command is not a failed call");
    toolbox.close().await.unwrap();
    let late = call(&toolbox, "run_command", json!({"command": "echo"})).await;
    assert!(late.is_error && late.text == "the sandbox is closed", "{}", late.text);
}

/// R83: a forbidden tool is neither listed nor executed.
#[tokio::test]
async fn only_some_tools() {
    let (_workspace, toolbox) = toolbox(|opts| opts).await;
    let toolbox = toolbox.only(&BTreeSet::from([Tool::SandboxStatus]));
    assert_eq!(toolbox.definitions().len(), 1);
    let refused = call(&toolbox, "run_command", json!({"command": "touch x"})).await;
    assert!(
        refused.is_error && refused.text.contains("not allowed here; allowed are sandbox_status"),
        "{}",
        refused.text
    );
}

/// R80: the description of the sandbox matches its configuration.
#[tokio::test]
async fn the_description_is_the_sandboxs_own() {
    let (workspace, toolbox) = toolbox(|opts| {
        let mode = WorkspaceMode::ReadOnly { writable: Vec::new() };
        opts.with_workspace_mode(mode).with_network(exec_core::Network::Host)
    })
    .await;
    let at = workspace.path().canonicalize().unwrap();
    assert!(
        toolbox.place().contains(&format!("Workspace: {}; you may read it, not change it.", at.display()))
    );
    assert!(toolbox.place().contains("Network: this machine's own."));
    let reply = call(&toolbox, "run_command", json!({"command": "touch x"})).await;
    assert!(reply.text.contains("perhaps: that place is read-only in this sandbox"), "{}", reply.text);
}

/// A43: output is saved to regular files only. Opening a pipe would block until a reader comes.
#[tokio::test]
async fn output_is_saved_to_files_alone() {
    let (workspace, toolbox) = toolbox(|opts| opts).await;
    let prepare =
        "mkfifo pipe && ln -s pipe link && mkdir directory && ln -s /dev/zero device && ln -s file near";
    assert!(!call(&toolbox, "run_command", json!({"command": prepare})).await.is_error);
    for name in ["pipe", "link", "directory", "device"] {
        let arguments = json!({"command": "echo out", "save_output": name});
        let reply = call(&toolbox, "run_command", arguments);
        let reply = tokio::time::timeout(std::time::Duration::from_secs(60), reply).await.unwrap();
        assert!(reply.is_error && reply.text.contains("it is not a regular file"), "{name}: {}", reply.text);
    }
    for name in ["file", "near", "new"] {
        let reply = call(&toolbox, "run_command", json!({"command": "echo out", "save_output": name})).await;
        assert!(!reply.is_error, "{}", reply.text);
        assert_eq!(std::fs::read_to_string(workspace.path().join(name)).unwrap(), "out\n");
    }
}
