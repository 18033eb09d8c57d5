//! `start_command`, `read_output`, `write_input` and `stop_command`.

use std::fmt::Write;
use std::time::Duration;

use exec_core::{Cmd, Error, ErrorKind, Result, WindowSize};
use serde_json::{Value, json};

use super::Toolbox;
use crate::background::{Command, State};
use crate::{ReadOutput, StartCommand, StopCommand, ToolReply, WriteInput, explain, output, reply};

impl Toolbox {
    pub(super) async fn start(&self, args: StartCommand) -> Result<ToolReply> {
        self.background.admit()?;
        let mut opts = self.policy.in_background(args.cwd.as_deref(), args.timeout_seconds)?;
        opts.tty = args.terminal.unwrap_or(false).then(WindowSize::default);
        let run = self.executor.start(&Cmd::shell(&args.command), &opts).await?;
        let most = usize::try_from(self.policy.bounds().log.get()).unwrap_or(usize::MAX);
        let id = self.background.add(Command::watch(args.command, run, most));
        Ok(ToolReply::new(
            format!(
                "started as background command {id}; read what it prints with read_output {{\"id\": {id}}}"
            ),
            json!({"id": id}),
        ))
    }

    pub(super) async fn read(&self, args: ReadOutput) -> Result<ToolReply> {
        let command = self.background.get(args.id)?;
        let wait = args
            .wait_seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .unwrap_or_default();
        let most = usize::try_from(self.shown(args.max_output_bytes).get()).unwrap_or(usize::MAX);
        // The state is read before the page, so that "ended" means the page is the last one.
        let mut page = command.read(args.cursor.unwrap_or(0), most, wait).await;
        let state = command.state();
        if page.more > 0 || matches!(state, State::Running) {
            page.hold_back();
        }
        let mut text = format!("command {} {}; cursor {}", args.id, standing(&state), page.next);
        if page.lost > 0 {
            let _ = write!(text, "\n[{} bytes before this are not kept any more]", page.lost);
        }
        let mut last = None;
        for (stream, bytes) in &page.pieces {
            match last.replace(*stream) {
                Some(last) if last == *stream => text.push_str(&output::piece(bytes)),
                _ => reply::section(&mut text, *stream, &output::piece(bytes)),
            }
        }
        match (page.pieces.is_empty(), page.more) {
            (true, 0) => text.push_str("\n(nothing new)"),
            (_, 0) => {}
            (_, more) => {
                let _ = write!(text, "\n[{more} bytes more: read on with cursor {}]", page.next);
            }
        }
        let facts = json!({"id": args.id, "cursor": page.next, "lost": page.lost, "more": page.more, "state": facts(&state)});
        Ok(ToolReply::new(text, facts))
    }

    pub(super) async fn write(&self, args: WriteInput) -> Result<ToolReply> {
        let command = self.background.get(args.id)?;
        if !command.is_running() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "call",
                format!("command {} {}", args.id, standing(&command.state())),
            )
            .with_remedy("start it again"));
        }
        let input = args.input.unwrap_or_default();
        let written = input.len();
        if written > 0 {
            command.write(input.into()).await?;
        }
        let end = args.end.unwrap_or(false);
        if end {
            command.end_input().await;
        }
        let ended = if end { ", and its input is ended" } else { "" };
        Ok(ToolReply::new(
            format!("{written} bytes written to command {}{ended}", args.id),
            json!({"id": args.id, "written": written, "ended": end}),
        ))
    }

    pub(super) async fn stop(&self, args: StopCommand) -> Result<ToolReply> {
        let command = self.background.get(args.id)?;
        let state = command.stop(args.force.unwrap_or(false)).await;
        Ok(ToolReply::new(
            format!("command {} {}; it wrote {} bytes", args.id, standing(&state), command.written()),
            json!({"id": args.id, "state": facts(&state)}),
        ))
    }
}

pub(super) fn standing(state: &State) -> String {
    match state {
        State::Running => "is running".to_owned(),
        State::Ended(outcome) => {
            let notes = explain::notes(outcome);
            let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
            format!("has ended: {}{notes}", explain::ending(outcome))
        }
        State::Lost(why) => format!("is lost: {why}"),
    }
}

pub(super) fn facts(state: &State) -> Value {
    match state {
        State::Running => json!({"ended": null}),
        State::Ended(outcome) => reply::ended(outcome),
        State::Lost(why) => json!({"ended": "lost", "error": why}),
    }
}
