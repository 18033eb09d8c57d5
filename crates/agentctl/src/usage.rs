//! Arguments that can't be parsed, or ask for help.

use clap::builder::StyledStr;
use clap::error::{ContextValue, ErrorKind as Usage};
use exec_core::{Error, ErrorKind, printable};

use crate::{exit_code, output};

/// Prints clap's answer and returns the exit status.
pub(crate) fn report(mut error: clap::Error) -> u8 {
    quote(&mut error);
    let help = matches!(error.kind(), Usage::DisplayHelp | Usage::DisplayVersion);
    if !help && json_was_typed(std::env::args_os()) {
        let _ = output::print(&output::error_object(&as_ours(&error)));
        return exit_code::SANDBOX_FAILED;
    }
    if help {
        // A reader that closes the pipe early is not an error.
        let _ = error.print();
        return 0;
    }
    output::tell(error.render().to_string().trim_end());
    exit_code::SANDBOX_FAILED
}

/// Quoted arguments stay on their line. Clap removes colours, and nothing else.
fn quote(error: &mut clap::Error) {
    let line = |text: &String| printable::line(text).into_owned();
    let styled = |text: &StyledStr| StyledStr::from(line(&text.to_string()));
    let quoted = error.context().filter_map(|(kind, value)| match value {
        ContextValue::StyledStrs(texts) => {
            Some((kind, ContextValue::StyledStrs(texts.iter().map(styled).collect())))
        }
        ContextValue::String(text) => Some((kind, ContextValue::String(line(text)))),
        ContextValue::Strings(texts) => Some((kind, ContextValue::Strings(texts.iter().map(line).collect()))),
        _ => None,
    });
    for (kind, value) in quoted.collect::<Vec<_>>() {
        error.insert(kind, value);
    }
}

/// Whether an object is wanted, although the arguments are invalid.
fn json_was_typed(args: impl Iterator<Item = std::ffi::OsString>) -> bool {
    args.take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// The first paragraph describes the problem, a tip the fix.
fn as_ours(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: ")).map(str::to_owned);
    let remedy = tip.unwrap_or_else(|| "see `agentctl run --help`".to_owned());
    Error::new(ErrorKind::InvalidInput, "arguments", message).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_json_counts() {
        let typed = |line: &str| json_was_typed(line.split(' ').map(Into::into));
        assert!(typed("agentctl run --json --memory x -- ls"));
        assert!(!typed("agentctl run --memory x -- ls --json"));
    }
}
