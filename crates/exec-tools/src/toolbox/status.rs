//! `sandbox_status`.

use std::fmt::Write;

use exec_core::{Cmd, Held, Isolation, Result};
use serde_json::json;

use super::Toolbox;
use super::background::{facts, standing};
use crate::{SandboxStatus, ToolReply};

impl Toolbox {
    /// Describes the sandbox, tested by running a command.
    pub(super) async fn status(&self, _: SandboxStatus) -> Result<ToolReply> {
        let mut text = self.place.clone();
        let tried = self.executor.run(&Cmd::shell(":"), self.policy.opts()).await;
        let isolation = match &tried {
            Ok(result) => {
                let took = result.outcome.duration.as_secs_f64() * 1e3;
                let _ = write!(text, "\n- It works: a command took {took:.1} ms.");
                gaps(&mut text, &result.outcome.isolation);
                serde_json::to_value(&*result.outcome.isolation).unwrap_or_default()
            }
            Err(error) => {
                let _ = write!(text, "\n- It does NOT work: {error}.");
                json!(null)
            }
        };
        let commands = self.background.all();
        if commands.is_empty() {
            text.push_str("\nNo background commands.");
        }
        for (id, command) in &commands {
            let script: String = command.script.chars().take(60).collect();
            let _ = write!(text, "\ncommand {id} (`{script}`) {}", standing(&command.state()));
        }
        let commands: Vec<_> = commands
            .iter()
            .map(|(id, command)| {
                json!({"id": id, "command": command.script, "state": facts(&command.state()), "written": command.written()})
            })
            .collect();
        let mut reply = ToolReply::new(
            text,
            json!({"executor": self.executor.name(), "isolation": isolation, "commands": commands}),
        );
        reply.is_error = tried.is_err();
        Ok(reply)
    }
}

/// Appends the limits that are not enforced here.
fn gaps(text: &mut String, isolation: &Isolation) {
    for report in &isolation.limits {
        if let Held::NotEnforced { why } = &report.held {
            let _ = write!(text, "\n- The limit on {} does not hold here: {why}.", report.limit);
        }
    }
}
