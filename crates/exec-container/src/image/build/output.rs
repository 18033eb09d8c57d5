//! Runs a build, reports its progress and keeps the end of its output.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::process::{Command, Stdio};

use exec_cell::BuildStep;
use exec_core::{Error, ErrorKind, Result};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use super::program::Program;
use crate::Endpoint;

/// How many lines of a failed build are shown.
const LAST_WORDS: usize = 25;
/// How much of a line is shown, in characters.
const LONGEST: usize = 400;
/// Longer lines are split at this many bytes, so that an endless line is never held as a whole.
const PIECE: u64 = 4096;

/// Runs the build to its end and returns the end of its output. The build dies with this process, however that
/// ends.
pub(super) async fn follow(
    program: &Program,
    arguments: &[OsString],
    endpoint: &Endpoint,
    tell: impl Fn(BuildStep),
) -> Result<String> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Io, "build", format!("{} can't be run", program.path.display()))
            .with_source(error)
    };
    #[cfg(target_os = "linux")]
    if let Some(said) = tied(program, arguments, endpoint, &tell).await.map_err(failed)? {
        return Ok(said);
    }
    child(program, arguments, endpoint, &tell).await.map_err(failed)
}

/// Runs it through a helper that ends it if we are killed; `None` if this program has no helper.
#[cfg(target_os = "linux")]
async fn tied(
    program: &Program,
    arguments: &[OsString],
    endpoint: &Endpoint,
    tell: &impl Fn(BuildStep),
) -> io::Result<Option<String>> {
    let (reader, writer) = io::pipe()?;
    let streams = [writer.try_clone()?, writer];
    let spawned = crate::BoundService::spawn(&program.path, arguments, |command| {
        program.prepare(command, endpoint);
        let [out, err] = streams;
        command.stdout(out).stderr(err);
    })?;
    let Some(build) = spawned else { return Ok(None) };
    let said = listen(tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into())?, tell).await;
    drop(build);
    said.map(Some)
}

/// Runs it as a child that is killed when the future is dropped.
async fn child(
    program: &Program,
    arguments: &[OsString],
    endpoint: &Endpoint,
    tell: &impl Fn(BuildStep),
) -> io::Result<String> {
    let mut command = Command::new(&program.path);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    program.prepare(&mut command, endpoint);
    let mut child = tokio::process::Command::from(command).kill_on_drop(true).spawn()?;
    let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let (out, err) = tokio::join!(listen(out, tell), listen(err, tell));
    child.wait().await?;
    Ok([out?, err?].join("\n"))
}

async fn listen(output: impl AsyncRead + Unpin, tell: &impl Fn(BuildStep)) -> io::Result<String> {
    let mut output = BufReader::new(output);
    let mut last: VecDeque<String> = VecDeque::new();
    let mut piece = Vec::new();
    while (&mut output).take(PIECE).read_until(b'\n', &mut piece).await? > 0 {
        let line: String = String::from_utf8_lossy(&piece).chars().take(LONGEST).collect();
        piece.clear();
        let line = line.trim_end();
        tracing::debug!(line, "build");
        if let Some(step) = step(line) {
            tell(step);
        }
        if !line.is_empty() {
            last.push_back(line.to_owned());
        }
        if last.len() > LAST_WORDS {
            last.pop_front();
        }
    }
    Ok(Vec::from(last).join("\n"))
}

/// Parses `#7 [build 2/5] RUN make` of BuildKit and `STEP 2/5: RUN make` of Podman.
fn step(line: &str) -> Option<BuildStep> {
    let (place, what) = match line.strip_prefix('#') {
        Some(rest) => rest.split_once(" [")?.1.split_once("] ")?,
        None => line.strip_prefix("STEP ")?.split_once(": ")?,
    };
    let (number, of) = place.rsplit(' ').next()?.split_once('/')?;
    Some(BuildStep { number: number.parse().ok()?, of: of.parse().ok()?, what: what.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// R76
    #[rstest]
    #[case("#7 [3/5] RUN make", Some((3, 5, "RUN make")))]
    #[case("#12 [build 2/9] COPY . .", Some((2, 9, "COPY . .")))]
    #[case("STEP 1/4: FROM x", Some((1, 4, "FROM x")))]
    #[case("#7 DONE 0.2s", None)]
    #[case("#7 0.213 [WARN] [1] x", None)]
    #[case("#1 [internal] load build definition", None)]
    fn steps_are_told(#[case] line: &str, #[case] expected: Option<(u32, u32, &str)>) {
        let step = step(line);
        assert_eq!(step.as_ref().map(|step| (step.number, step.of, step.what.as_str())), expected);
    }

    /// A43: a build prints whatever its Dockerfile makes it print. A line is not held until its end.
    #[tokio::test]
    async fn a_line_without_an_end_comes_in_pieces() {
        let (output, mut build) = tokio::io::duplex(1 << 16);
        let (told, mut steps) = tokio::sync::mpsc::unbounded_channel();
        let listening = tokio::spawn(async move {
            let tell = |step: BuildStep| told.send(step.number).unwrap();
            listen(output, &tell).await
        });
        build.write_all(b"STEP 1/4: RUN yes").await.unwrap();
        for _ in 0..256 {
            build.write_all(&[b'x'; 1 << 14]).await.unwrap();
        }
        let step = tokio::time::timeout(Duration::from_secs(60), steps.recv()).await;
        assert_eq!(step.expect("it is reported while the line goes on"), Some(1));
        drop(build);
        let said = listening.await.unwrap().unwrap();
        assert!(said.len() <= LAST_WORDS * (LONGEST + 1), "{}", said.len());
    }
}
