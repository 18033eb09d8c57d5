//! Objects for programs: one line each.

use std::collections::BTreeMap;
use std::fmt::Write;

use exec_core::{Error, ErrorKind, Retry, printable};
use serde::Serialize;

use super::spelled;

/// The object that `--json` prints without a result.
#[derive(Debug, Serialize)]
struct ErrorObject<'a> {
    error: ErrorFields<'a>,
}

#[derive(Debug, Serialize)]
struct ErrorFields<'a> {
    kind: ErrorKind,
    message: String,
    remedy: Option<String>,
    operation: &'a str,
    executor: Option<&'a str>,
    context: BTreeMap<&'a str, &'a str>,
    retry_may_help: bool,
}

/// An error as one line of JSON.
pub(crate) fn error_object(error: &Error) -> String {
    let object = ErrorObject {
        error: ErrorFields {
            kind: error.kind(),
            message: error.to_string(),
            remedy: error.remedy().map(spelled),
            operation: error.operation(),
            executor: error.backend(),
            context: error.context().iter().map(|(key, value)| (*key, value.as_str())).collect(),
            retry_may_help: error.retry() == Retry::MayHelp,
        },
    };
    to_line(&object)
}

/// A value as one line of text.
pub(crate) fn to_line(value: &impl Serialize) -> String {
    // Our objects have string keys and finite numbers, so they can always be serialized.
    let mut line = harmless(&serde_json::to_string(value).unwrap_or_default());
    line.push('\n');
    line
}

/// A value on several lines, for people.
pub(super) fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|text| harmless(&text))
}

/// Spells out characters that a terminal would obey. JSON escapes the ASCII controls by itself; the others
/// occur only within its strings, where any character may be escaped.
fn harmless(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if printable::is_hidden(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string can't fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A46
    #[test]
    fn control_characters_are_spelt_out() {
        let text = "\u{1b}\u{7f}\u{9b}\u{202e}\u{e0041}ü";
        let line = to_line(&text);
        assert_eq!(line, "\"\\u001b\\u007f\\u009b\\u202e\\udb40\\udc41ü\"\n");
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
    }

    #[test]
    fn an_error_is_an_object_with_stable_names() {
        let error = Error::new(ErrorKind::ProgramNotFound, "start", "`x` is missing")
            .with_backend("local")
            .with_context("PATH", "/bin")
            .with_remedy("install it");
        insta::assert_snapshot!(error_object(&error), @r#"{"error":{"kind":"program_not_found","message":"local: `x` is missing (PATH: /bin)","remedy":"install it","operation":"start","executor":"local","context":{"PATH":"/bin"},"retry_may_help":false}}"#);
    }
}
