//! Chooses the sandbox for a job.

use std::sync::Arc;

use agent_exec::local::{LocalConfig, WallsChoice};
use agent_exec::{Builder, Progress, Sandbox};
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
    // One command needs one cell; keeping more ready would cost it time.
    let builder = agent_exec::builder().backend(Arc::new(local(job.walls))).warm_cells(0);
    let builder = builder.progress(match job.talk {
        Talk::Quiet => Progress::default(),
        Talk::Terse | Talk::Normal | Talk::Verbose => output::image_progress(job.voice),
    });
    let ruled_out = job.ruled_out.iter().flat_map(|by| {
        let containers = backends::all().iter().filter(|backend| backend.has_images);
        containers.map(move |backend| (backend.name, by))
    });
    ruled_out.fold(builder, |builder, (name, by)| builder.rule_out(name, by))
}

/// Local cells with these walls, in place of those built in.
fn local(walls: WallsArg) -> LocalConfig {
    let walls = match walls {
        WallsArg::Auto => WallsChoice::Auto,
        WallsArg::Namespaces => WallsChoice::Namespaces,
        WallsArg::Subreaper => WallsChoice::Subreaper,
        WallsArg::ProcessGroup => WallsChoice::ProcessGroup,
    };
    LocalConfig { walls, ..LocalConfig::default() }
}
