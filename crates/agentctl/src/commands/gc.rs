//! `agentctl gc`: cleans up after dead orchestrators.

use agent_exec::control::{Controller, SweepMode};
use exec_core::Result;

use super::print;
use crate::args::GcArgs;
use crate::exit_code;
use crate::output::{Line, Voice, cleaned, say, to_line};

/// Cleans up, or prints what it would remove.
pub(crate) async fn gc(args: &GcArgs) -> Result<u8> {
    let mode = if args.dry_run { SweepMode::Look } else { SweepMode::Remove };
    let report = Controller::of_this_user().gc(mode).await?;
    let code = if report.is_done() { 0 } else { exit_code::SURVIVORS };
    if args.json {
        print(to_line(&report).as_bytes())?;
        return Ok(code);
    }
    if report.is_nothing() {
        say(Voice::Person, &Line::info("there is nothing to clean up"));
        return Ok(0);
    }
    print(cleaned::render(&report, mode).as_bytes())?;
    for line in cleaned::problems(&report) {
        say(Voice::Person, &line);
    }
    Ok(code)
}
