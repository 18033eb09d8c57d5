//! A message of ours on standard error, and its format.

use std::time::SystemTime;

use exec_core::{Error, printable};

use super::spelled;

/// The severity of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warn,
    Error,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) level: Level,
    pub(crate) text: String,
    /// The remedy.
    pub(crate) remedy: Option<String>,
}

impl Line {
    pub(crate) fn info(text: impl Into<String>) -> Self {
        Self { level: Level::Info, text: text.into(), remedy: None }
    }

    pub(crate) fn warn(text: impl Into<String>) -> Self {
        Self { level: Level::Warn, text: text.into(), remedy: None }
    }

    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { level: Level::Error, text: text.into(), remedy: None }
    }

    pub(crate) fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl From<&Error> for Line {
    fn from(error: &Error) -> Self {
        Self { remedy: error.remedy().map(spelled), ..Self::error(error.to_string()) }
    }
}

/// Indents the lines after the first, so that none of them looks like a message of its own.
fn indented(text: &str) -> String {
    let set_back = |line: &str| if line.starts_with(' ') { line.to_owned() } else { format!("  {line}") };
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    std::iter::once(first).chain(lines.map(set_back)).collect::<Vec<_>>().join("\n")
}

/// The reader of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A person, who wants to know which program speaks.
    Person,
    /// The log of a worker, where every line has its time and level.
    Worker,
}

impl Voice {
    /// The format of a message that is printed now.
    pub(crate) fn render(self, line: &Line, now: SystemTime) -> String {
        let Line { level, text, remedy } = line;
        // Quoted text may contain line breaks, and must not pass for another message of ours.
        let text = match self {
            Self::Person => indented(text),
            Self::Worker => printable::line(text).into_owned(),
        };
        let remedy = remedy.as_deref().map(printable::line);
        match self {
            Self::Person => {
                let warning = if *level == Level::Warn { "WARN " } else { "" };
                let remedy = remedy.as_ref().map_or_else(String::new, |remedy| format!("\n  try: {remedy}"));
                format!("agentctl: {warning}{text}{remedy}")
            }
            Self::Worker => {
                let level = match level {
                    Level::Info => "INFO",
                    Level::Warn => "WARN",
                    Level::Error => "ERROR",
                };
                let remedy = remedy.as_ref().map_or_else(String::new, |remedy| format!("; try: {remedy}"));
                format!("{} {level} {text}{remedy}", humantime::format_rfc3339_millis(now))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use exec_core::ErrorKind;

    use super::*;

    /// R64
    #[test]
    fn a_line_is_for_a_person_or_for_a_log() {
        let now = UNIX_EPOCH + Duration::from_millis(1_794_852_000_007);
        let failure: Line = (&Error::new(ErrorKind::InvalidInput, "run", "no command was given")
            .with_remedy("name one"))
            .into();
        let lines = [Line::info("it runs"), Line::warn("it is weak"), failure];
        let shown =
            |voice: Voice| lines.iter().map(|line| voice.render(line, now)).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(shown(Voice::Person), @r"
        agentctl: it runs
        agentctl: WARN it is weak
        agentctl: no command was given
          try: name one
        ");
        insta::assert_snapshot!(shown(Voice::Worker), @r"
        2026-11-16T18:00:00.007Z INFO it runs
        2026-11-16T18:00:00.007Z WARN it is weak
        2026-11-16T18:00:00.007Z ERROR no command was given; try: name one
        ");
    }
}
