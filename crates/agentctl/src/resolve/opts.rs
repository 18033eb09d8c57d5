//! The options of a run on each sandbox, from the effective settings and what is said with the command alone.

use exec_config::{Config, Engine, Surroundings, project_file_names};
use exec_core::{DangerousMounts, Error, ExecOpts, Result};

use super::Host;
use crate::args::FileArgs;

/// Options for each sandbox that may be chosen.
#[derive(Debug)]
pub(crate) struct OptsByEngine {
    /// Never empty; the local ones are last.
    known: Vec<(Engine, ExecOpts)>,
    /// Whose settings make no sense. That is no reason to run nothing on another.
    refused: Vec<(Engine, Error)>,
}

impl OptsByEngine {
    /// Those for an executor by its name; one that has no settings of its own has the local ones. Who uses it has asked
    /// [`refuse`](Self::refuse) before.
    pub(crate) fn on(&self, executor: &str) -> &ExecOpts {
        let own = self.known.iter().position(|(engine, _)| engine.name() == executor);
        &self.known[own.unwrap_or(self.known.len() - 1)].1
    }

    /// Whether there are options for an executor at all.
    pub(crate) fn has(&self, executor: &str) -> bool {
        !self.refused.iter().any(|(engine, _)| engine.name() == executor)
    }

    /// An error where the settings for an executor make no sense.
    pub(crate) fn refuse(&self, executor: &str) -> Result<()> {
        match self.refused.iter().find(|(engine, _)| engine.name() == executor) {
            Some((engine, error)) => Err(refusal(*engine, error)),
            None => Ok(()),
        }
    }

    /// The same for all.
    #[cfg(test)]
    pub(crate) fn alike(opts: &ExecOpts) -> Self {
        Self { known: Engine::ALL.map(|engine| (engine, opts.clone())).into(), refused: Vec::new() }
    }

    pub(super) fn build(
        config: &Config,
        files: &FileArgs,
        surroundings: &impl Surroundings,
        host: Host,
    ) -> Result<Self> {
        let (mut known, mut refused) = (Vec::new(), Vec::new());
        for engine in Engine::ALL {
            match one(config, files, surroundings, host, engine) {
                Ok(opts) => known.push((engine, opts)),
                Err(error) => refused.push((engine, error)),
            }
        }
        // What is wrong everywhere is not about one of them.
        if known.is_empty()
            && let Some((_, error)) = refused.pop()
        {
            return Err(error);
        }
        Ok(Self { known, refused })
    }

    pub(crate) fn each(&mut self, change: impl Fn(&mut ExecOpts)) {
        self.known.iter_mut().for_each(|(_, opts)| change(opts));
    }
}

fn refusal(engine: Engine, error: &Error) -> Error {
    let refusal = Error::new(
        error.kind(),
        "run",
        format!("the settings for {engine} can't be used: {}", error.reason()),
    );
    match error.remedy() {
        Some(remedy) => refusal.with_remedy(remedy),
        None => refusal,
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
        config.refuse_exposure(surroundings, &opts.mounts)?;
    }
    Ok(opts)
}
