//! `agentctl workshop`: checks a workshop, or runs its workers' commands in its one sandbox.

use std::io::Read;

use exec_core::{Cmd, Error, ErrorKind, Executor, Result, SessionName};
use exec_tools::Tool;
use exec_workshop::{Allowed, Isolation, Worker, Workshop};

use super::print;
use super::run::{Occasion, listen, one, open};
use crate::args::{StdinArg, WorkshopArgs, WorkshopCommand, WorkshopRunArgs};
use crate::backends::{self, here};
use crate::exit_code;
use crate::output::table;
use crate::resolve::{self, Host};

/// More than a user writes by hand.
const MOST_INPUT: u64 = 1024 * 1024;

/// Runs the command and returns its exit status.
pub(crate) async fn workshop(args: WorkshopArgs) -> Result<u8> {
    match args.command {
        WorkshopCommand::Check { file } => check(&exec_workshop::load(&file, backends::all())?),
        WorkshopCommand::Run(args) => run(*args).await,
    }
}

fn check(workshop: &Workshop) -> Result<u8> {
    let isolation = match workshop.isolation {
        Isolation::Docker => "docker",
        Isolation::Process => "process",
    };
    let rows = workshop.workers.iter().map(|worker| {
        [worker.name.clone(), allowed(worker), worker.delegates_to.join(", "), worker.description.clone()]
    });
    let workers = table(&["WORKER", "TOOLS", "DELEGATES TO", "DESCRIPTION"], rows);
    print(format!("workshop {}, isolation {isolation}\n\n{workers}", workshop.name).as_bytes())
}

fn allowed(worker: &Worker) -> String {
    match &worker.allowed {
        Allowed::All => "all".to_owned(),
        Allowed::Only { tools, others } => {
            let tools = tools.iter().map(|tool| tool.name()).chain(others.iter().map(String::as_str));
            tools.collect::<Vec<_>>().join(", ")
        }
    }
}

async fn run(args: WorkshopRunArgs) -> Result<u8> {
    let workshop = exec_workshop::load(&args.file, backends::all())?;
    let (tasks, stdin) = match &args.worker {
        Some(worker) => (vec![(worker.clone(), Cmd::from_argv(args.argv)?)], StdinArg::Auto),
        None => (tasks(&input()?)?, StdinArg::None),
    };
    for (name, _) in &tasks {
        may_run(worker(&workshop, name)?)?;
    }
    let mut job = resolve::workshop(&args.how, &workshop, stdin, &here(), Host::ours())?;
    let session = SessionName::new(format!("workshop-{}", workshop.name));
    job.opts.each(|opts| *opts = opts.clone().in_session(session.clone()));
    let mut signals = listen()?;
    let Some(sandbox) = open(&job, Occasion::Command, &mut signals).await? else {
        return Ok(exit_code::CANCELLED);
    };
    let mut code = 0;
    for (_, cmd) in tasks {
        job.commands = vec![cmd];
        code = one(&sandbox, &job, &mut signals).await?;
        if code != 0 {
            break;
        }
    }
    sandbox.end_session(&session).await?;
    Ok(code)
}

/// The worker of this name.
pub(super) fn worker<'a>(workshop: &'a Workshop, name: &str) -> Result<&'a Worker> {
    workshop.worker(name).ok_or_else(|| {
        let names: Vec<&str> = workshop.workers.iter().map(|worker| worker.name.as_str()).collect();
        let hint = exec_config::tree::hint(name, &names);
        Error::new(
            ErrorKind::NotFound,
            "run",
            format!("the workshop {} has no worker `{name}`", workshop.name),
        )
        .with_remedy(format!("name one of its workers; {hint}"))
    })
}

fn may_run(worker: &Worker) -> Result<()> {
    if worker.allowed.tools().contains(&Tool::RunCommand) {
        return Ok(());
    }
    let message =
        format!("the worker {} may not run commands: its allowed-tools are {}", worker.name, allowed(worker));
    Err(Error::new(ErrorKind::PermissionDenied, "run", message)
        .with_remedy("add `run_command` to them in the worker's file, or have another worker do it"))
}

fn input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().take(MOST_INPUT).read_to_string(&mut text).map_err(|error| {
        Error::new(ErrorKind::Io, "run", "can't read what to run from standard input")
            .with_source(error)
            .with_remedy("write `WORKER: COMMAND` lines, or name a worker and a command")
    })?;
    Ok(text)
}

/// Lines like `builder: make`; empty lines and those that begin with `#` are skipped.
fn tasks(text: &str) -> Result<Vec<(String, Cmd)>> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let tasks = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(|(number, line)| {
        let task = line.split_once(':').filter(|(_, command)| !command.trim().is_empty());
        let (worker, command) = task.ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidInput,
                "run",
                format!("line {number} of the input is not a task: {line:?}"),
            )
            .with_remedy("write the worker, a colon and a line of shell, like `builder: make test`")
        })?;
        Ok((worker.trim().to_owned(), Cmd::shell(command.trim())))
    });
    let tasks: Vec<_> = tasks.collect::<Result<_>>()?;
    if tasks.is_empty() {
        return Err(Error::new(ErrorKind::InvalidInput, "run", "there is nothing to run").with_remedy(
            "name a worker and a command after `--`, or write `WORKER: COMMAND` lines to standard input",
        ));
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_worker_and_a_command() {
        let tasks = tasks("# first\n\nbuilder: make a:b\n tester :  true \n").unwrap();
        let shown: Vec<String> = tasks.iter().map(|(worker, cmd)| format!("{worker} {cmd}")).collect();
        assert_eq!(shown, ["builder sh -c 'make a:b'", "tester sh -c true"]);
        for wrong in ["", "make", "builder:"] {
            assert!(super::tasks(wrong).is_err(), "{wrong}");
        }
    }
}
