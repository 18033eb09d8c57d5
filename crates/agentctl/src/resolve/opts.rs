//! The options of a run on each sandbox, from the effective settings and what is said with the command alone.

use std::path::Path;

use exec_config::{Config, Engine, Surroundings, project_file_names};
use exec_core::{DangerousMounts, ExecOpts, Result};

use super::Host;
use crate::args::FileArgs;

/// Options for each sandbox that may be chosen.
#[derive(Debug, Clone)]
pub(crate) struct OptsByEngine([(Engine, ExecOpts); 3]);

impl OptsByEngine {
    /// Those for an executor by its name; one that has no settings of its own has the local ones.
    pub(crate) fn on(&self, executor: &str) -> &ExecOpts {
        let [_, _, (_, local)] = &self.0;
        self.0.iter().find(|(engine, _)| engine.name() == executor).map_or(local, |(_, opts)| opts)
    }

    /// The same for all.
    #[cfg(test)]
    pub(crate) fn alike(opts: &ExecOpts) -> Self {
        Self(Engine::ALL.map(|engine| (engine, opts.clone())))
    }

    pub(super) fn build(
        config: &Config,
        files: &FileArgs,
        surroundings: &impl Surroundings,
        host: Host,
    ) -> Result<Self> {
        let on = |engine| one(config, files, surroundings, host, engine).map(|opts| (engine, opts));
        let [docker, podman, local] = Engine::ALL.map(on);
        Ok(Self([docker?, podman?, local?]))
    }

    pub(super) fn each(&mut self, change: impl Fn(&mut ExecOpts)) {
        self.0.iter_mut().for_each(|(_, opts)| change(opts));
    }
}

fn one(
    config: &Config,
    files: &FileArgs,
    surroundings: &impl Surroundings,
    host: Host,
    engine: Engine,
) -> Result<ExecOpts> {
    let mut opts = config.settings(engine).to_opts(host.variable)?;
    opts.workspace.path.clone_from(&files.workspace);
    opts.cwd.clone_from(&files.cwd);
    opts.kept_files = project_file_names().map(Into::into).chain(config.files().to_vec()).collect();
    opts.dangerous_mounts =
        if files.allow_dangerous_mounts { DangerousMounts::Accept } else { DangerousMounts::Refuse };
    if opts.dangerous_mounts == DangerousMounts::Refuse {
        let workspace = opts.workspace.path.as_deref().unwrap_or(Path::new("."));
        config.refuse_exposure(surroundings, workspace, &opts.mounts)?;
    }
    Ok(opts)
}
