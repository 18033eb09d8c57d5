//! What is wanted of a sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;

use exec_cell::{Backend, Progress, Setup};
use exec_control::Watch;
use exec_core::{
    Cmd, ExecOpts, IsolationLevel, Needs, OwnPlaces, Plan, Registry, Request, Result, WorkspaceMode,
};

use crate::probe::{Finding, Probe, look};
use crate::{Backends, Evidence, Sandbox};

/// Says what is wanted, then [`build`](Self::build)s it. The default is what [`auto`](crate::auto) gives.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    /// None for `auto`.
    name: Option<String>,
    no_fallback: bool,
    floor: Option<IsolationLevel>,
    ruled_out: Vec<(String, String)>,
    first_run: Option<ExecOpts>,
    /// Where it is not the same on every sandbox.
    first_run_on: BTreeMap<String, ExecOpts>,
    tried_here: bool,
    backends: Backends,
    watch: Watch,
    warm_cells: Option<usize>,
    progress: Option<Progress>,
}

/// Starts from what [`auto`](crate::auto) gives.
pub fn builder() -> Builder {
    Builder::default()
}

impl Builder {
    /// This backend and no other, by its name or an alias. `auto` takes the most preferred that works.
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

    /// All three at once.
    #[must_use]
    pub fn request(mut self, request: Request) -> Self {
        (self.name, self.no_fallback, self.floor) = match request {
            Request::Auto { no_fallback, floor } => (None, no_fallback, floor),
            Request::Named { name, floor } => (Some(name), false, floor),
        };
        self
    }

    /// Leaves one out of `auto`, because of this: `ENABLE_DOCKER=false`. To ask for it by name is stronger.
    #[must_use]
    pub fn rule_out(mut self, name: impl Into<String>, by: impl Into<String>) -> Self {
        self.ruled_out.push((name.into(), by.into()));
        self
    }

    /// The options of the run that comes first. Its cell is made at once, so that a sandbox that can't run it – the image is
    /// missing, containers may not be made – is passed over now, with that reason, and not found out then. The cell is not
    /// made twice: the run uses it.
    #[must_use]
    pub fn first_run(mut self, opts: ExecOpts) -> Self {
        self.first_run = Some(opts);
        self
    }

    /// The options of the run that comes first, if it is to run on this one.
    #[must_use]
    pub fn first_run_on(mut self, name: impl Into<String>, opts: ExecOpts) -> Self {
        self.first_run_on.insert(name.into(), opts);
        self
    }

    /// Where no first run is given: tries whether the sandbox can run anything, in the current directory.
    pub(crate) fn tried_here(mut self) -> Self {
        self.tried_here = true;
        self
    }

    /// Adds a backend, preferred to all that are there: of several, the one added last is tried first. A backend of
    /// the same name as one that is there takes its place, which is how the backends built in are configured.
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

    /// The backends to choose from, in order of preference, instead of those built in.
    #[must_use]
    pub fn backends(mut self, backends: Backends) -> Self {
        self.backends = backends;
        self
    }

    /// How many cells are kept warm per exact specification; 0 keeps none.
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

    /// Writes down cells and runs here, instead of in the state directory and the audit log of this user: for an
    /// orchestrator whose runs shall be seen and stopped apart from all others.
    #[must_use]
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Looks for what is wanted. An error says what there is instead, and what would make it work.
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

    /// Every name, so that a miss can list them, and which of them are ruled out.
    fn registry(&self, names: &[&str]) -> Registry {
        let registry = names.iter().fold(Registry::new(), |registry, name| registry.with_name(*name));
        let known = self.ruled_out().filter(|(name, _)| names.contains(name));
        known.fold(registry, |registry, (name, by)| registry.ruling_out(name, by))
    }

    fn ruled_out(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ruled_out.iter().map(|(name, by)| (self.backends.canonical(name), by.as_str()))
    }

    /// Only what can be chosen is looked for: looking costs time.
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

/// A run in the current directory that can't write there, so that its cell needs nothing prepared: looking for a sandbox leaves
/// the directory as it is.
fn trial() -> ExecOpts {
    ExecOpts::default().with_workspace_mode(WorkspaceMode::ReadOnly { writable: Vec::new() })
}

/// Where the current directory can't be a workspace – `/`, a home directory – there is nothing to try: whoever starts there
/// works elsewhere. Backends that are given such a run would refuse it, so this is asked before there is one.
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
