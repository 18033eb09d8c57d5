//! A tool's answer.

use std::fmt::Write;

use exec_core::{Error, ExecResult, Outcome, Plan, Report, Stream};
use serde_json::{Value, json};

use crate::spelling::spelled;
use crate::{explain, output};

/// An answer: text for the model, facts for programs.
#[derive(Debug, Clone)]
pub struct ToolReply {
    /// What the model reads.
    pub text: String,
    /// Whether the call failed. A failing command is not a failed call.
    pub is_error: bool,
    /// The same as data, without the output; names are stable.
    pub facts: Value,
    /// The complete result, if a command ran to its end.
    pub result: Option<ExecResult>,
}

impl ToolReply {
    pub(crate) fn new(text: impl Into<String>, facts: Value) -> Self {
        Self { text: text.into(), is_error: false, facts, result: None }
    }

    /// A call that was refused.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            facts: json!({"error": {"kind": "invalid_input", "message": text}}),
            text,
            is_error: true,
            result: None,
        }
    }

    /// A command that ran to its end.
    pub(crate) fn ran(result: ExecResult, plan: &Plan, more: Vec<String>) -> Self {
        let mut notes = explain::notes(&result.outcome);
        notes.extend(explain::guess(&result, plan).filter(|_| notes.is_empty()));
        notes.extend(more);
        let first = explain::ending(&result.outcome);
        let mut text = notes.iter().fold(first, |text, note| format!("{text}\n[{note}]"));
        for (stream, captured) in [(Stream::Stdout, &result.stdout), (Stream::Stderr, &result.stderr)] {
            if captured.total() > 0 {
                section(&mut text, stream, &output::shape(captured));
            }
        }
        if result.stdout.total() + result.stderr.total() == 0 {
            text.push_str("\n(no output)");
        }
        Self { text, is_error: false, facts: facts(&result), result: Some(result) }
    }
}

impl From<Error> for ToolReply {
    fn from(error: Error) -> Self {
        let remedy = error.remedy().map(spelled);
        let facts = json!({"error": {"kind": error.kind(), "message": error.to_string(), "remedy": remedy}});
        let hint = remedy.map_or_else(String::new, |remedy| format!(". Try: {remedy}"));
        Self { text: format!("{error}{hint}"), is_error: true, facts, result: None }
    }
}

/// Adds the output of a stream, on lines of its own.
pub(crate) fn section(text: &mut String, stream: Stream, written: &str) {
    let name = match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    };
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    // Writing to a string can't fail.
    let _ = write!(text, "{gap}--- {name} ---\n{written}");
}

/// How a run ended, as data.
pub(crate) fn ended(outcome: &Outcome) -> Value {
    json!({"ended": outcome.ended, "exit_code": outcome.exit_code(), "signal": outcome.signal()})
}

/// A report without the output, which is long and already in the text.
fn facts(result: &ExecResult) -> Value {
    let mut report = Report::from(result);
    report.remedies_mut().for_each(|remedy| *remedy = spelled(remedy).into());
    let mut facts = serde_json::to_value(report).unwrap_or_default();
    if let Some(facts) = facts.as_object_mut() {
        facts.remove("stdout");
        facts.remove("stderr");
        facts.insert("stdout_bytes".to_owned(), result.stdout.total().into());
        facts.insert("stderr_bytes".to_owned(), result.stderr.total().into());
    }
    facts
}

#[cfg(test)]
mod tests {
    use exec_core::{Change, ErrorKind, Remedy};

    use super::*;

    #[test]
    fn an_error_says_what_the_model_and_the_operator_can_do() {
        let remedy = Remedy::from("print less").or(Change::raise("max_output"));
        let error = Error::new(ErrorKind::Unsupported, "run", "too much").with_remedy(remedy);
        let reply = ToolReply::from(error);
        let hint = "print less, or ask the operator to raise the option `max_output`";
        assert_eq!(reply.text, format!("too much. Try: {hint}"));
        assert_eq!(reply.facts["error"]["remedy"], hint);
    }
}
