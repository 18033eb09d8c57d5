//! `agentctl emergency-stop` and `agentctl resume`.

use agent_exec::control::Controller;
use exec_core::Result;

use super::stop::tell;
use crate::args::EmergencyStopArgs;
use crate::output::{Line, Voice, say};

/// Stops everything.
pub(crate) async fn emergency_stop(args: &EmergencyStopArgs) -> Result<u8> {
    let report = Controller::of_this_user().emergency_stop().await?;
    let code = tell(&report, args.json)?;
    if !args.json {
        say(Voice::Person, &Line::info("new runs are refused until `agentctl resume`"));
    }
    Ok(code)
}

/// Lets runs start again.
pub(crate) fn resume() -> Result<u8> {
    let line = if Controller::of_this_user().resume()? {
        "runs start again"
    } else {
        "no emergency stop is in force"
    };
    say(Voice::Person, &Line::info(line));
    Ok(0)
}
