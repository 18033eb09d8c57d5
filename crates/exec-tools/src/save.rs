//! Saves a command's whole output to a file that the model can search afterwards.
//!
//! A second command in the same sandbox writes the file, with the same rights as the first. So paths need no
//! validation and links are harmless: a model can't write anything this way that it can't write by running a
//! command. Ownership and size limits are those of any other file.

use std::time::Duration;

use bytes::Bytes;
use exec_core::{
    Cmd, Error, ErrorKind, Event, ExecOpts, Execution, Executor, Limit, Result, Stdin, StdinWriter,
};

/// Reports when the file is open, then copies its input to it. The path can change at any moment, so the script
/// checks the opened file, not the name. It opens for reading, too, because opening a pipe only for writing waits for
/// a reader, and truncates only after checking that it is a regular file.
const SCRIPT: &str = r#"
refuse() { echo 'it is not a regular file'; exit 1; }
[ ! -d "$1" ] || refuse
exec 3<>"$1" || exit 1
[ -f /proc/self/fd/3 ] || refuse
: >/proc/self/fd/3 && echo open && exec cat >&3"#;

/// Longer than opening or writing a file takes, even on a busy machine. The command runs in the same sandbox and can
/// stop the writer, which must not delay the answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The most of an error message to keep.
const COMPLAINT: usize = 4096;

/// A file being written.
#[derive(Debug)]
pub(crate) struct Saved {
    path: String,
    run: Execution,
    input: StdinWriter,
}

impl Saved {
    /// Opens the file; fails before the command has started if it can't be written.
    pub(crate) async fn open(executor: &dyn Executor, opts: &ExecOpts, path: &str) -> Result<Self> {
        let mut opts = opts.clone().with_stdin(Stdin::Stream);
        // It ends when we close its input, or with us.
        opts.limits.timeout = Limit::Unlimited;
        opts.idle_timeout = None;
        let run = executor.start(&Cmd::shell(SCRIPT).arg("sh").arg(path), &opts).await?;
        let Ok(said) = tokio::time::timeout(PATIENCE, first_words(&run)).await else {
            run.control().kill();
            return Err(not_written(path, "it can't be opened in time"));
        };
        if said != "open\n" {
            return Err(not_written(path, said.trim()));
        }
        let input = run.stdin();
        Ok(Self { path: path.to_owned(), run, input })
    }

    /// Writes more. A writer that accepts nothing more is ended, and [`finish`](Self::finish) reports it.
    pub(crate) async fn write(&self, bytes: Bytes) {
        if !matches!(tokio::time::timeout(PATIENCE, self.input.write(bytes)).await, Ok(Ok(()))) {
            self.run.control().kill();
        }
    }

    /// Waits until everything is written, and reports the result.
    pub(crate) async fn finish(self) -> Result<String> {
        self.input.close();
        let said = tokio::time::timeout(PATIENCE, rest(&self.run)).await;
        let complaint = said.unwrap_or_else(|_| {
            self.run.control().kill();
            "it was not written in time".to_owned()
        });
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

/// The first line of the script: that the file is open, or why not. A shell may print a line in pieces.
async fn first_words(run: &Execution) -> String {
    let mut said = Vec::new();
    while !said.contains(&b'\n') && said.len() < COMPLAINT {
        match run.next_event().await {
            Some(Event::Output { bytes, .. }) => said.extend_from_slice(&bytes),
            Some(_) => {}
            None if said.is_empty() => return "the shell did not start".to_owned(),
            None => break,
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}

async fn rest(run: &Execution) -> String {
    let mut said = String::new();
    while let Some(event) = run.next_event().await {
        if let Event::Output { bytes, .. } = event {
            let kept = bytes.len().min(COMPLAINT.saturating_sub(said.len()));
            said.push_str(&String::from_utf8_lossy(&bytes.slice(..kept)));
        }
    }
    said
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::process::{Child, Command, Stdio};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use super::*;

    const OUTER_LIMIT: Duration = Duration::from_secs(30);

    /// Whether it ended in time.
    fn ends(child: &mut Child) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < OUTER_LIMIT {
            if child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        false
    }

    /// A4, A43: at any moment the file may become a pipe that is never read.
    #[test]
    fn a_file_that_becomes_a_pipe_holds_nothing_up() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "").unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        // With a reader that never reads, so that opening succeeds.
        let _reader = fs::File::options().read(true).write(true).open(at("pipe")).unwrap();
        let (is_over, name) = (AtomicBool::new(false), at("name"));
        let take_turns = || {
            for kind in ["pipe", "file"].iter().cycle() {
                fs::hard_link(at(kind), at("next")).unwrap();
                fs::rename(at("next"), &name).unwrap();
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        };
        fs::hard_link(at("file"), &name).unwrap();
        let all_ended = std::thread::scope(|scope| {
            scope.spawn(take_turns);
            let all_ended = (0..30).all(|_| {
                let mut command = Command::new("sh");
                command.args(["-c", SCRIPT, "sh"]).arg(&name).stdin(Stdio::piped());
                let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                let mut input = child.stdin.take().unwrap();
                // More than a pipe holds. A script that refused the file does not read it.
                let writer = std::thread::spawn(move || drop(input.write_all(&vec![b'x'; 1 << 18])));
                let ended = ends(&mut child);
                writer.join().unwrap();
                ended
            });
            is_over.store(true, Ordering::Relaxed);
            all_ended
        });
        assert!(all_ended);
    }
}
