//! A command through MCP, in a warm session, compared with the same in the library.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use criterion::Criterion;
use exec_core::{Cmd, SessionName};
use serde_json::{Value, json};

use crate::ENGINE;
use crate::measure::{sparse, time_each};
use crate::rig::EngineRig;

pub(crate) fn tools(c: &mut Criterion) {
    let Some(agentctl) = std::env::var_os("AGENTCTL_BIN").map(PathBuf::from) else {
        assert!(std::env::args().any(|arg| arg == "--test"), "AGENTCTL_BIN names the program to measure");
        return;
    };
    let rig = EngineRig::new(0);
    let mut group = c.benchmark_group(format!("{ENGINE}-mcp"));
    sparse(&mut group);
    let session = rig.opts.clone().in_session(SessionName::new("library"));
    group.bench_function("library", |b| {
        let run = || async {
            let result = rig.executor.run(&Cmd::shell(":"), &session).await.expect("a run");
            assert!(result.success(), "{result:?}");
        };
        b.iter_custom(|count| rig.runtime.block_on(time_each(count, run)));
    });
    let client = RefCell::new(Client::start(&agentctl, &rig));
    client.borrow_mut().run();
    group.bench_function("run-command", |b| {
        b.iter_custom(|count| rig.runtime.block_on(time_each(count, || async { client.borrow_mut().run() })));
    });
    group.finish();
}

/// A minimal client, so that the bench measures the server.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn start(agentctl: &PathBuf, rig: &EngineRig) -> Self {
        let mut command = Command::new(agentctl);
        command.args(["mcp", "--quiet", "--sandbox", ENGINE]).current_dir(rig.workspace.path());
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let input = server.stdin.take().expect("its input");
        let output = BufReader::new(server.stdout.take().expect("its output"));
        let mut client = Self { server, input, output, last: 0 };
        let info = json!({"name": "bench", "version": "0"});
        client.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn run(&mut self) {
        let answer = self.ask("tools/call", &json!({"name": "run_command", "arguments": {"command": ":"}}));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("an object");
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).expect("a server that reads");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
