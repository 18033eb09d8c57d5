//! Objects for programs: one line each.

use std::collections::BTreeMap;

use exec_core::{Error, ErrorKind, Retry};
use serde::Serialize;

/// What `--json` prints when there is no result.
#[derive(Debug, Serialize)]
struct ErrorObject<'a> {
    error: ErrorFields<'a>,
}

#[derive(Debug, Serialize)]
struct ErrorFields<'a> {
    kind: ErrorKind,
    message: String,
    remedy: Option<&'a str>,
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
            remedy: error.remedy(),
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
    String::from_utf8_lossy(&line(value)).into_owned()
}

/// A value as one line.
pub(super) fn line(value: &impl Serialize) -> Vec<u8> {
    // Our objects have string keys and finite numbers; they can always be written.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_an_object_with_stable_names() {
        let error = Error::new(ErrorKind::ProgramNotFound, "start", "there is no `x`")
            .with_backend("local")
            .with_context("PATH", "/bin")
            .with_remedy("install it");
        insta::assert_snapshot!(error_object(&error), @r#"{"error":{"kind":"program_not_found","message":"local: there is no `x` (PATH: /bin)","remedy":"install it","operation":"start","executor":"local","context":{"PATH":"/bin"},"retry_may_help":false}}"#);
    }
}
