//! Which executor a job gets. Only what was asked for is looked for: looking costs time.

use std::sync::Arc;

use exec_core::{Detected, Executor, Registry, Request, Result, Selection};
use exec_docker::{ContainerConfig, DockerConfig};
use exec_local::{LocalConfig, WallsChoice};

use crate::args::WallsArg;
use crate::output;
use crate::resolve::{Job, Talk};

/// The executor for a job; one asked for by name is never replaced by another.
pub(crate) async fn executor(job: &Job) -> Result<(Arc<dyn Executor>, Selection)> {
    let detected = match &job.request {
        Request::Named { name, .. } if name == "docker" => exec_docker::detect(docker_config(job)).await?,
        Request::Named { name, .. } if name != "local" => not_built_in(name),
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
    LocalConfig {
        walls,
        warm_cells: 0,
        first_run: Some(job.opts.on("local").clone()),
        ..LocalConfig::default()
    }
}

fn docker_config(job: &Job) -> DockerConfig {
    let progress = match job.talk {
        Talk::Quiet => exec_docker::Progress::default(),
        Talk::Normal | Talk::Verbose => output::pull_progress(),
    };
    let containers = ContainerConfig { warm_cells: 0, progress, ..ContainerConfig::default() };
    DockerConfig { containers, ..DockerConfig::default() }
}

fn not_built_in(name: &str) -> Detected {
    Detected::Missing {
        name: name.to_owned(),
        reason: "this sandbox is not built into this version of agentctl".to_owned(),
        remedy: "use --sandbox docker or local".to_owned(),
    }
}
