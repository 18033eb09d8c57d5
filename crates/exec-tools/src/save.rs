//! Everything a command prints, in a file that the model can search afterwards.
//!
//! A second command in the same sandbox writes the file, with the same rights as the first. So there is no path to check and
//! no link to fear: what a model can't write by running a command it can't write in this way either, and whose file it is
//! and how large it may be is decided as for any other.

use std::time::Duration;

use bytes::Bytes;
use exec_core::{
    Cmd, Error, ErrorKind, Event, ExecOpts, Execution, Executor, Limit, Result, Stdin, StdinWriter,
};

/// Says when the file is open, then takes what comes. Opening a pipe would wait for a reader.
const SCRIPT: &str = r#"
if [ -e "$1" ] && [ ! -f "$1" ]; then echo 'it is not a regular file'; exit 1; fi
exec 3>"$1" && echo open && exec cat >&3"#;

/// Longer than opening a file takes, on a busy machine too. What was looked at can be a pipe by the time it is opened.
const OPENS: Duration = Duration::from_secs(20);

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Saved {
    path: String,
    run: Execution,
    input: StdinWriter,
}

impl Saved {
    /// Opens it; an error says why it can't be written, before the command has started.
    pub(crate) async fn open(executor: &dyn Executor, opts: &ExecOpts, path: &str) -> Result<Self> {
        let mut opts = opts.clone().with_stdin(Stdin::Stream);
        // It ends when we close its input, or with us.
        opts.limits.timeout = Limit::Unlimited;
        opts.idle_timeout = None;
        let run = executor.start(&Cmd::shell(SCRIPT).arg("sh").arg(path), &opts).await?;
        let Ok(said) = tokio::time::timeout(OPENS, first_words(&run)).await else {
            run.control().kill();
            return Err(not_written(path, "it can't be opened in time"));
        };
        if said != "open\n" {
            return Err(not_written(path, said.trim()));
        }
        let input = run.stdin();
        Ok(Self { path: path.to_owned(), run, input })
    }

    pub(crate) async fn write(&self, bytes: Bytes) -> Result<()> {
        self.input.write(bytes).await
    }

    /// Waits until it is all written, and says what became of it.
    pub(crate) async fn finish(self) -> Result<String> {
        self.input.close();
        let complaint = rest(&self.run).await;
        let outcome = self.run.wait().await?;
        Ok(match outcome.exit_code() {
            Some(0) => format!("the whole output is in {}", self.path),
            _ => format!("{} does not have the whole output: {}", self.path, complaint.trim()),
        })
    }
}

fn not_written(path: &str, why: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, "call", format!("can't write `{path}`: {why}"))
        .with_remedy("name a file in the workspace or below /tmp whose directory exists")
}

/// The first thing it prints: that the file is open, or why not.
async fn first_words(run: &Execution) -> String {
    while let Some(event) = run.next_event().await {
        if let Event::Output { bytes, .. } = event {
            return String::from_utf8_lossy(&bytes).into_owned();
        }
    }
    "the shell did not start".to_owned()
}

async fn rest(run: &Execution) -> String {
    let mut said = String::new();
    while let Some(event) = run.next_event().await {
        if let Event::Output { bytes, .. } = event {
            said.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    said
}
