//! `agentctl doctor`: tries every available sandbox, and reports which one a run would get.

use std::time::Duration;

use agent_exec::BackendInfo;
use exec_core::{Executor, Request, Result};
use exec_doctor::{Chosen, Host as Machine, Report, Sandbox, State, examine};
use futures_util::future::join_all;

use crate::args::DoctorArgs;
use crate::backends::here;
use crate::output::{doctor, print, spell, to_line};
use crate::resolve::{self, Host, Job};
use crate::{choose, exit_code, settle};

/// How long the tried sandboxes may take to end. An engine that takes longer is left to the helpers.
const CLEANING_UP: Duration = Duration::from_secs(15);

/// Tries the sandboxes, prints the report, and returns whether a run would work.
pub(crate) async fn doctor(args: &DoctorArgs) -> Result<u8> {
    let json = args.json;
    let job = resolve::doctor(args, &here(), Host::ours())?;
    let machine = Machine::look();
    let backends = agent_exec::backends();
    let sandboxes = join_all(backends.iter().map(|backend| look_at(backend, &job, &machine))).await;
    let host_checks = machine.checks();
    let mut report = Report { chosen: chosen(&job).await, sandboxes, host: machine, host_checks };
    report.remedies_mut().for_each(spell);
    let text = if json { to_line(&report) } else { doctor::render(&report) };
    let printed = print(&text);
    settle::helpers_have_ended(CLEANING_UP).await;
    Ok(match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => exit_code::of_output_error(&error),
        _ if report.works() => 0,
        _ => exit_code::UNWELL,
    })
}

async fn look_at(backend: &BackendInfo, job: &Job, machine: &Machine) -> Sandbox {
    let name = backend.name.as_str();
    let request = Request::Named { name: name.to_owned(), floor: None };
    let state = match choose::looking(job).request(request).build().await {
        Ok(sandbox) => State::Present {
            isolation: sandbox.capabilities().level,
            engine: sandbox.capabilities().engine.clone(),
            checks: examine(&sandbox, job.opts.on(name), machine).await,
        },
        Err(error) => {
            let fix = error.remedy().cloned().unwrap_or_else(|| "use another sandbox".into());
            let fix = if backend.has_images { machine.how_to_reach_an_engine(fix) } else { fix };
            State::Missing { fix, reason: error.reason() }
        }
    };
    Sandbox { name: name.to_owned(), state }
}

async fn chosen(job: &Job) -> Chosen {
    match choose::sandbox(job).await {
        Ok(sandbox) => {
            let selection = sandbox.selection();
            Chosen::Sandbox {
                requested: selection.requested.clone(),
                name: selection.name.clone(),
                fallback: selection.is_fallback(),
            }
        }
        Err(error) => Chosen::Nothing {
            fix: error.remedy().cloned().unwrap_or_else(|| "see the report of each sandbox above".into()),
            reason: error.reason(),
        },
    }
}
