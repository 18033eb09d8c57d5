//! Chooses the sandbox for a job.

use agent_exec::docker::{ContainerConfig, DockerConfig, Progress};
use agent_exec::local::{LocalConfig, WallsChoice};
use agent_exec::podman::PodmanConfig;
use agent_exec::{Backends, Builder, Sandbox};
use exec_core::{Executor, Request, Result};

use crate::args::WallsArg;
use crate::backends;
use crate::output;
use crate::resolve::{Job, Talk};

/// The sandbox for a job, with its cell already made. A sandbox requested by name is never replaced by
/// another.
pub(crate) async fn sandbox(job: &Job) -> Result<Sandbox> {
    if let Request::Named { name, .. } = &job.request {
        job.opts.refuse(name)?;
    }
    let names = backends::all().iter().map(|backend| backend.name).filter(|name| job.opts.has(name));
    let first = |builder: Builder, name| builder.first_run_on(name, job.opts.on(name).clone());
    let sandbox = names.fold(looking(job).request(job.request.clone()), first).build().await?;
    job.opts.refuse(sandbox.name())?;
    Ok(sandbox)
}

/// The search for sandboxes with the options of this job.
pub(crate) fn looking(job: &Job) -> Builder {
    let (docker, podman) = (
        DockerConfig { containers: container_config(job), ..DockerConfig::default() },
        PodmanConfig { containers: container_config(job), ..PodmanConfig::default() },
    );
    let backends = Backends { docker, podman, local: local_config(job) };
    let builder = agent_exec::builder().backends(backends);
    let ruled_out = job.ruled_out.iter().flat_map(|by| {
        let containers = backends::all().iter().filter(|backend| backend.has_images);
        containers.map(move |backend| (backend.name, by))
    });
    ruled_out.fold(builder, |builder, (name, by)| builder.rule_out(name, by))
}

fn local_config(job: &Job) -> LocalConfig {
    let walls = match job.walls {
        WallsArg::Auto => WallsChoice::Auto,
        WallsArg::Namespaces => WallsChoice::Namespaces,
        WallsArg::Subreaper => WallsChoice::Subreaper,
        WallsArg::ProcessGroup => WallsChoice::ProcessGroup,
    };
    // One command needs one cell; making more ahead would cost it time.
    LocalConfig { walls, warm_cells: 0, ..LocalConfig::default() }
}

fn container_config(job: &Job) -> ContainerConfig {
    let progress = match job.talk {
        Talk::Quiet => Progress::default(),
        Talk::Terse | Talk::Normal | Talk::Verbose => output::image_progress(job.voice),
    };
    ContainerConfig { warm_cells: 0, progress, ..ContainerConfig::default() }
}
