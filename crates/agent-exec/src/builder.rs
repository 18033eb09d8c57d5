//! Describes the wanted sandbox and finds it.

use std::collections::BTreeMap;
use std::sync::Arc;

use exec_cell::{Backend, Progress, Setup};
use exec_control::Watch;
use exec_core::{
    Cmd, ExecOpts, IsolationLevel, Needs, OwnPlaces, Plan, Registry, Request, Result, WorkspaceMode,
};

use crate::probe::{Finding, Probe, look};
use crate::{Backends, Evidence, Sandbox};

/// Describes the wanted sandbox; [`build`](Self::build) finds it. The default is that of [`auto`](crate::auto).
#[derive(Debug, Clone, Default)]
pub struct Builder {
    /// `None` for `auto`.
    name: Option<String>,
    no_fallback: bool,
    floor: Option<IsolationLevel>,
    ruled_out: Vec<(String, String)>,
    first_run: Option<ExecOpts>,
    /// First runs that differ from the general one, by backend.
    first_run_on: BTreeMap<String, ExecOpts>,
    tried_here: bool,
    backends: Backends,
    watch: Watch,
    warm_cells: Option<usize>,
    progress: Option<Progress>,
}

/// Starts with the settings of [`auto`](crate::auto).
pub fn builder() -> Builder {
    Builder::default()
}

impl Builder {
    /// Selects exactly this backend, by its name or an alias. `auto` takes the most preferred that works.
    #[must_use]
    pub fn sandbox(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into()).filter(|name| name != "auto");
        self
    }

    /// Refuses anything weaker than this.
    #[must_use]
    pub fn min_isolation(mut self, floor: IsolationLevel) -> Self {
        self.floor = Some(floor);
        self
    }

    /// Refuses anything but the first choice.
    #[must_use]
    pub fn no_fallback(mut self) -> Self {
        self.no_fallback = true;
        self
    }

    /// Sets all three at once.
    #[must_use]
    pub fn request(mut self, request: Request) -> Self {
        (self.name, self.no_fallback, self.floor) = match request {
            Request::Auto { no_fallback, floor } => (None, no_fallback, floor),
            Request::Named { name, floor } => (Some(name), false, floor),
        };
        self
    }

    /// Leaves a backend out of `auto` for this reason, such as `ENABLE_DOCKER=false`. Asking for it by name still works.
    #[must_use]
    pub fn rule_out(mut self, name: impl Into<String>, by: impl Into<String>) -> Self {
        self.ruled_out.push((name.into(), by.into()));
        self
    }

    /// The options of the first run. Its cell is made at once, so that a sandbox that can't run it – the image is
    /// missing, containers are forbidden – is passed over now, with that reason, instead of failing later. The run uses
    /// this cell, so it is not made twice.
    #[must_use]
    pub fn first_run(mut self, opts: ExecOpts) -> Self {
        self.first_run = Some(opts);
        self
    }

    /// The options of the first run if it is to run on this backend.
    #[must_use]
    pub fn first_run_on(mut self, name: impl Into<String>, opts: ExecOpts) -> Self {
        self.first_run_on.insert(name.into(), opts);
        self
    }

    /// Without a first run, tries whether the sandbox can run anything in the current directory.
    pub(crate) fn tried_here(mut self) -> Self {
        self.tried_here = true;
        self
    }

    /// Adds a backend that is preferred to all present ones: of several, the one added last is tried first. It takes the
    /// place of a backend with the same name, which is how built-in backends are configured.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "docker")] {
    /// use std::sync::Arc;
    ///
    /// use agent_exec::docker::DockerConfig;
    ///
    /// let host = Some("unix:///srv/docker.sock".to_owned());
    /// let builder = agent_exec::builder().backend(Arc::new(DockerConfig { host, ..DockerConfig::default() }));
    /// # }
    /// ```
    #[must_use]
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.backends = self.backends.with_first(backend);
        self
    }

    /// Replaces the built-in backends with these, in order of preference.
    #[must_use]
    pub fn backends(mut self, backends: Backends) -> Self {
        self.backends = backends;
        self
    }

    /// Sets how many cells are kept warm per exact specification; 0 keeps none.
    #[must_use]
    pub fn warm_cells(mut self, warm_cells: usize) -> Self {
        self.warm_cells = Some(warm_cells);
        self
    }

    /// Receives the progress of image pulls and builds.
    #[must_use]
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Records cells and runs here, instead of in this user's state directory and audit log: for an orchestrator whose
    /// runs are listed and stopped apart from all others.
    #[must_use]
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Finds the sandbox. An error reports what is available instead, and what would make the wanted one work.
    pub async fn build(&self) -> Result<Sandbox> {
        self.watch.admit()?;
        let trial = self.tried_here.then(trial).filter(can_be_tried);
        let probe = |backend: &Arc<dyn Backend>| {
            let setup = self.setup(backend.name(), trial.as_ref());
            let (name, backend) = (backend.name().to_owned(), Arc::clone(backend));
            Probe::new(name, async move { backend.detect(setup).await })
        };
        self.choose(self.backends.iter().map(probe).collect()).await
    }

    fn setup(&self, name: &str, trial: Option<&ExecOpts>) -> Setup {
        Setup {
            watch: self.watch.clone(),
            first_run: self.first_run_of(name).or(trial).cloned(),
            warm_cells: self.warm_cells,
            progress: self.progress.clone(),
        }
    }

    async fn choose(&self, probes: Vec<Probe>) -> Result<Sandbox> {
        let names: Vec<&str> = self.backends.iter().map(|backend| backend.name()).collect();
        let mut registry = self.registry(&names);
        let needs = |name: &str| self.first_run_of(name).map(Needs::of).unwrap_or_default();
        let request = self.as_request();
        let decided = |found: &[Finding]| {
            let known = found.iter().filter_map(|one| Some((&one.name, one.detected.as_ref().ok()?.clone())));
            let registry = known.fold(registry.clone(), |all, (name, detected)| all.with(name, detected));
            found.iter().any(|one| one.detected.is_err()) || registry.choose(&request, needs).is_ok()
        };
        let findings = look(self.relevant(probes), decided).await;
        let evidence = evidence(&names, &findings);
        for finding in findings {
            registry = registry.with(finding.name, finding.detected?);
        }
        let (executor, selection) = registry.choose(&request, needs)?;
        tracing::info!(executor = selection.name, requested = selection.requested, "chosen");
        Ok(Sandbox { executor, selection, evidence })
    }

    fn first_run_of(&self, name: &str) -> Option<&ExecOpts> {
        let own = self.first_run_on.iter().find(|(key, _)| self.backends.canonical(key) == name);
        own.map(|(_, opts)| opts).or(self.first_run.as_ref())
    }

    fn as_request(&self) -> Request {
        match &self.name {
            None => Request::Auto { no_fallback: self.no_fallback, floor: self.floor },
            Some(name) => {
                Request::Named { name: self.backends.canonical(name).to_owned(), floor: self.floor }
            }
        }
    }

    /// A registry of every name, so that a miss can list them, with those ruled out.
    fn registry(&self, names: &[&str]) -> Registry {
        let registry = names.iter().fold(Registry::new(), |registry, name| registry.with_name(*name));
        let known = self.ruled_out().filter(|(name, _)| names.contains(name));
        known.fold(registry, |registry, (name, by)| registry.ruling_out(name, by))
    }

    fn ruled_out(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ruled_out.iter().map(|(name, by)| (self.backends.canonical(name), by.as_str()))
    }

    /// Keeps the probes of backends that can be chosen: each one takes time.
    fn relevant(&self, probes: Vec<Probe>) -> Vec<Probe> {
        if let Some(asked) = &self.name {
            let asked = self.backends.canonical(asked);
            return probes.into_iter().filter(|probe| probe.name == asked).collect();
        }
        let is_in = |probe: &Probe| !self.ruled_out().any(|(name, _)| probe.name == name);
        let probes = probes.into_iter().filter(is_in);
        if self.no_fallback { probes.take(1).collect() } else { probes.map(Probe::or_pass_over).collect() }
    }
}

/// A run in the current directory that can't write there. Its cell needs nothing prepared, so looking for a sandbox
/// leaves the directory as it is.
fn trial() -> ExecOpts {
    ExecOpts::default().with_workspace_mode(WorkspaceMode::ReadOnly { writable: Vec::new() })
}

/// Whether the current directory can be a workspace. `/` and a home directory can't, and a caller that starts there
/// works elsewhere. Backends would refuse such a run, so this is checked first.
fn can_be_tried(opts: &ExecOpts) -> bool {
    Plan::resolve(&Cmd::new("true"), opts, [], OwnPlaces::here()).is_ok()
}

fn evidence(names: &[&str], findings: &[Finding]) -> Arc<[Evidence]> {
    let of = |name: &&str| match findings.iter().find(|finding| finding.name == *name) {
        Some(Finding { detected: Ok(detected), took, .. }) => Evidence::of(name, detected, *took),
        _ => Evidence::not_tried(name),
    };
    names.iter().map(of).collect()
}

#[cfg(test)]
mod tests;
