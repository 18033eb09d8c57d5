//! What happens when the arguments can't be read, or ask for help.

use clap::error::ErrorKind as Usage;
use exec_core::{Error, ErrorKind};

use crate::{exit_code, output};

/// Shows clap's answer and returns what to exit with.
pub(crate) fn report(error: &clap::Error) -> u8 {
    let help = matches!(error.kind(), Usage::DisplayHelp | Usage::DisplayVersion);
    if !help && json_was_typed(std::env::args_os()) {
        let _ = output::print(&output::error_object(&as_ours(error)));
        return exit_code::SANDBOX_FAILED;
    }
    // A reader that has seen enough of the help is no failure.
    let _ = error.print();
    if help { 0 } else { exit_code::SANDBOX_FAILED }
}

/// Whether an object is wanted, although the arguments make no sense.
fn json_was_typed(args: impl Iterator<Item = std::ffi::OsString>) -> bool {
    args.take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// The first paragraph says what is wrong, a tip how to mend it.
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
