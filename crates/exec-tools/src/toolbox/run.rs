//! `run_command`.

use exec_core::{ByteSize, Capture, Cmd, Collector, Event, ExecResult, Result, Stdin, Stream};

use super::{Toolbox, Watch};
use crate::save::Saved;
use crate::{RunCommand, ToolReply};

impl Toolbox {
    /// Runs a command to its end, keeping as much output as an answer may contain.
    pub(super) async fn run(&self, args: RunCommand, watch: &dyn Watch) -> Result<ToolReply> {
        let mut opts = self.policy.waited_for(args.cwd.as_deref(), args.timeout_seconds)?;
        if let Some(input) = args.stdin {
            opts.stdin = Stdin::Bytes(input.into());
        }
        let saved = match &args.save_output {
            Some(path) => Some(Saved::open(&*self.executor, &opts, path).await?),
            None => None,
        };
        let run = self.executor.start(&Cmd::shell(args.command), &opts).await?;
        let capture = Capture { cap: self.shown(args.max_output_bytes), spill: None };
        let (mut stdout, mut stderr) = (Collector::new(&capture)?, Collector::new(&capture)?);
        while let Some(event) = run.next_event().await {
            let Event::Output { stream, bytes } = event else { continue };
            watch.output(stream, &bytes);
            match stream {
                Stream::Stdout => stdout.push(&bytes)?,
                Stream::Stderr => stderr.push(&bytes)?,
            }
            if let Some(saved) = &saved {
                saved.write(bytes).await;
            }
        }
        let outcome = run.wait().await?;
        let note = match saved {
            Some(saved) => Some(saved.finish().await?),
            None => None,
        };
        let result = ExecResult { outcome, stdout: stdout.finish(), stderr: stderr.finish() };
        Ok(ToolReply::ran(result, self.policy.plan(), note.into_iter().collect()))
    }

    /// How much of a stream an answer shows: at least enough for reading to make progress.
    pub(super) fn shown(&self, asked: Option<u64>) -> ByteSize {
        const LEAST: ByteSize = ByteSize::bytes(64);
        let most = self.policy.bounds().output;
        asked.map_or(most, |asked| ByteSize::bytes(asked).min(most)).max(LEAST)
    }
}
