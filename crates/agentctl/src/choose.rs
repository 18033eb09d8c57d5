//! Which executor a job gets. Only what was asked for is looked for: looking costs time.

use std::sync::Arc;

use exec_core::{Executor, Registry, Request, Result, Selection};
use exec_docker::{ContainerConfig, DockerConfig};
use exec_local::{LocalConfig, WallsChoice};
use exec_podman::PodmanConfig;

use crate::args::WallsArg;
use crate::output;
use crate::resolve::{Job, Talk};

/// The executor for a job; one asked for by name is never replaced by another.
pub(crate) async fn executor(job: &Job) -> Result<(Arc<dyn Executor>, Selection)> {
    let detected = match &job.request {
        Request::Named { name, .. } if name == "docker" => {
            let containers = containers_config(job);
            exec_docker::detect(DockerConfig { containers, ..DockerConfig::default() }).await?
        }
        Request::Named { name, .. } if name == "podman" => {
            let containers = containers_config(job);
            exec_podman::detect(PodmanConfig { containers, ..PodmanConfig::default() }).await?
        }
        _ => exec_local::detect(local_config(job)).await?,
    };
    Registry::new().with(detected).choose(&job.request)
}

fn local_config(job: &Job) -> LocalConfig {
    let walls = match job.walls {
        WallsArg::Auto => WallsChoice::Auto,
        WallsArg::Namespaces => WallsChoice::Namespaces,
        WallsArg::Subreaper => WallsChoice::Subreaper,
        WallsArg::ProcessGroup => WallsChoice::ProcessGroup,
    };
    // One command needs one cell; keeping more ready would cost it time.
    LocalConfig { walls, warm_cells: 0, first_run: Some(job.opts.clone()), ..LocalConfig::default() }
}

fn containers_config(job: &Job) -> ContainerConfig {
    let progress = match job.talk {
        Talk::Quiet => exec_docker::Progress::default(),
        Talk::Normal | Talk::Verbose => output::pull_progress(),
    };
    ContainerConfig { warm_cells: 0, progress, ..ContainerConfig::default() }
}
