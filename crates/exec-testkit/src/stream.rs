//! Reads a run while it happens.

use anyhow::{Result, bail};
use exec_core::{Event, Execution, Stream};

/// Reads until standard output contains `text`; returns all of it so far.
pub(crate) async fn until(run: &Execution, text: &str) -> Result<String> {
    let mut seen = String::new();
    while !seen.contains(text) {
        match run.next_event().await {
            Some(Event::Output { stream: Stream::Stdout, bytes }) => {
                seen.push_str(&String::from_utf8_lossy(&bytes));
            }
            Some(_) => {}
            None => bail!("the run ended before it said {text:?}; it said {seen:?}"),
        }
    }
    Ok(seen)
}

/// Reads to the end; returns the rest of both streams.
pub(crate) async fn rest(run: &Execution) -> (Vec<u8>, Vec<u8>) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    while let Some(event) = run.next_event().await {
        match event {
            Event::Output { stream: Stream::Stdout, bytes } => stdout.extend_from_slice(&bytes),
            Event::Output { stream: Stream::Stderr, bytes } => stderr.extend_from_slice(&bytes),
            _ => {}
        }
    }
    (stdout, stderr)
}

/// Reads all events to the end.
pub(crate) async fn events(run: &Execution) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(event) = run.next_event().await {
        events.push(event);
    }
    events
}
