//! `agentctl stop`, `kill` and `rm`.

use agent_exec::control::{Controller, Meant, Report, Target};
use exec_core::{Error, ErrorKind, Result};

use super::print;
use crate::args::{KillArgs, RmArgs, StopArgs, TargetArgs};
use crate::exit_code;
use crate::output::{Line, Voice, say, stopped, to_line};

/// Asks the runs to end, then kills them.
pub(crate) async fn stop(args: StopArgs) -> Result<u8> {
    let controller = Controller::of_this_user();
    let mut report = Report::default();
    for target in targets(args.target) {
        report.add(controller.stop(&target, args.grace).await?);
    }
    tell(&report, args.json)
}

/// Kills the runs at once.
pub(crate) async fn kill(args: KillArgs) -> Result<u8> {
    let report = kill_all(&Controller::of_this_user(), targets(args.target)).await?;
    tell(&report, args.json)
}

/// Removes runs; running ones only by force.
pub(crate) async fn rm(args: RmArgs) -> Result<u8> {
    let controller = Controller::of_this_user();
    let targets = targets(args.target);
    if !args.force {
        let cells = controller.look()?;
        for target in &targets {
            let meant = target.among(&cells)?;
            if let Some(run) = meant.iter().find_map(running) {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "rm",
                    format!("the run {run} has not ended"),
                )
                .with_remedy("stop it first with `agentctl stop`, or say --force"));
            }
        }
    }
    let report = kill_all(&controller, targets).await?;
    tell(&report, args.json)
}

async fn kill_all(controller: &Controller, targets: Vec<Target>) -> Result<Report> {
    let mut report = Report::default();
    for target in targets {
        report.add(controller.kill(&target).await?);
    }
    Ok(report)
}

fn running(meant: &Meant<'_>) -> Option<String> {
    match meant {
        Meant::Cell(cell) => cell.runs.first().map(|run| run.id.clone()),
        Meant::Run(_, run) => Some(run.id.clone()),
    }
}

fn targets(args: TargetArgs) -> Vec<Target> {
    if args.all {
        return vec![Target::All];
    }
    let runs = args.runs.into_iter().map(Target::Named);
    let sessions = args.session.into_iter().map(Target::Session);
    runs.chain(sessions).chain(args.owner.into_iter().map(Target::Owner)).collect()
}

/// Prints the outcome and returns the exit status.
pub(super) fn tell(report: &Report, json: bool) -> Result<u8> {
    let code = if report.is_clean() { 0 } else { exit_code::SURVIVORS };
    if json {
        print(to_line(report).as_bytes())?;
        return Ok(code);
    }
    print(stopped::ended(report).as_bytes())?;
    for line in stopped::problems(report) {
        say(Voice::Person, &line);
    }
    if report.ended.is_empty() && report.is_clean() {
        say(Voice::Person, &Line::info("nothing runs"));
    }
    Ok(code)
}
