//! The options of a run on each backend: the effective settings, and what only a command line has.

use exec_config::{Config, HostEnvironment, project_file_names};
use exec_core::{DangerousMounts, Error, ExecOpts, Result};

use super::Host;
use crate::args::FileArgs;

/// Options for each backend that may be chosen.
#[derive(Debug)]
pub(crate) struct OptsByBackend {
    /// In order of preference, and never empty.
    known: Vec<(&'static str, ExecOpts)>,
    /// Backends whose settings can't be used. Others still run.
    refused: Vec<(&'static str, Error)>,
}

impl OptsByBackend {
    /// The options for an executor; one without settings of its own has those of the last backend. Callers ask
    /// [`refuse`](Self::refuse) first.
    pub(crate) fn on(&self, executor: &str) -> &ExecOpts {
        let own = self.known.iter().position(|(backend, _)| *backend == executor);
        &self.known[own.unwrap_or(self.known.len() - 1)].1
    }

    /// Whether there are options for an executor at all.
    pub(crate) fn has(&self, executor: &str) -> bool {
        !self.refused.iter().any(|(backend, _)| *backend == executor)
    }

    /// An error where the settings for an executor make no sense.
    pub(crate) fn refuse(&self, executor: &str) -> Result<()> {
        match self.refused.iter().find(|(backend, _)| *backend == executor) {
            Some((backend, error)) => Err(refusal(backend, error)),
            None => Ok(()),
        }
    }

    /// The same for all.
    #[cfg(test)]
    pub(crate) fn alike(opts: &ExecOpts) -> Self {
        let known = crate::backends::all().iter().map(|backend| (backend.name, opts.clone()));
        Self { known: known.collect(), refused: Vec::new() }
    }

    pub(super) fn build(
        config: &Config,
        files: &FileArgs,
        surroundings: &impl HostEnvironment,
        host: Host,
    ) -> Result<Self> {
        let (mut known, mut refused) = (Vec::new(), Vec::new());
        for backend in config.backends().iter().map(|backend| backend.name) {
            match one(config, files, surroundings, host, backend) {
                Ok(opts) => known.push((backend, opts)),
                Err(error) => refused.push((backend, error)),
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

fn refusal(backend: &str, error: &Error) -> Error {
    let refusal = Error::new(
        error.kind(),
        "run",
        format!("the settings for {backend} can't be used: {}", error.reason()),
    );
    match error.remedy() {
        Some(remedy) => refusal.with_remedy(remedy.clone()),
        None => refusal,
    }
}

fn one(
    config: &Config,
    files: &FileArgs,
    surroundings: &impl HostEnvironment,
    host: Host,
    backend: &str,
) -> Result<ExecOpts> {
    let mut opts = config.settings(backend).to_opts(host.variable)?;
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
