//! `agentctl health`: the health of all runs.

use agent_exec::control::{Controller, HealthState, Target};
use exec_core::Result;

use super::print;
use crate::args::HealthArgs;
use crate::exit_code;
use crate::output::{Line, Voice, health, say, spell, to_line};

/// Inspects the runs and prints their health.
pub(crate) fn health(args: HealthArgs) -> Result<u8> {
    let run = args.run.map(Target::Named).or_else(|| args.session.map(Target::Session));
    let target = run.or_else(|| args.owner.map(Target::Owner));
    let mut report = Controller::of_this_user().health(target.as_ref())?;
    report.problems.iter_mut().for_each(|problem| spell(&mut problem.remedy));
    let code = if report.state == HealthState::Error { exit_code::UNWELL } else { 0 };
    if args.json {
        print(to_line(&report).as_bytes())?;
        return Ok(code);
    }
    print(health::render(&report).as_bytes())?;
    for problem in &report.problems {
        say(Voice::Person, &Line::error(problem.to_string()));
    }
    Ok(code)
}
