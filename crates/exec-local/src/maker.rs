//! Makes local cells on Linux.

use std::ffi::OsStr;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use exec_cell::{CellIo, CellMaker};
use exec_core::{Capabilities, Isolation, Plan, Result};
use exec_host::HostView;
use exec_wire::{Facts, JailSpec, Resource, Rlimit};
use tempfile::TempDir;

use crate::config::NAME;
use crate::isolation;
use crate::jail::{self, Caller, WallKind};
use crate::os::linux::{Program, spawn};

/// Makes cells with one kind of walls.
#[derive(Debug)]
pub(crate) struct LocalMaker {
    walls: WallKind,
    caller: Caller,
    host: HostView,
    program: Program,
    capabilities: Capabilities,
    /// Stands in for the home directory where there is no mount namespace to hide the real one.
    home: Option<TempDir>,
}

impl LocalMaker {
    pub(crate) fn new(
        walls: WallKind,
        caller: Caller,
        host: HostView,
        program: Program,
        capabilities: Capabilities,
        home: Option<TempDir>,
    ) -> Self {
        Self { walls, caller, host, program, capabilities, home }
    }
}

#[async_trait]
impl CellMaker for LocalMaker {
    type Spec = JailSpec;

    fn name(&self) -> &str {
        NAME
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn adjust(&self, plan: &mut Plan) {
        if let Some(home) = &self.home {
            plan.env.insert("HOME".into(), home.path().into());
        } else if !plan.env.contains_key(OsStr::new("HOME")) {
            plan.env.insert("HOME".into(), "/tmp".into());
        }
    }

    fn spec(&self, plan: &Plan) -> Result<JailSpec> {
        jail::spec(plan, self.walls, self.caller, &self.host)
    }

    async fn make(&self, spec: &JailSpec) -> Result<CellIo> {
        let mut spec = spec.clone();
        spec.cgroup.name = group_name();
        spawn(&self.program, spec).await
    }

    fn isolation(&self, spec: &JailSpec, facts: &Facts) -> Isolation {
        isolation::report(spec, facts)
    }

    fn rlimits(&self, plan: &Plan, facts: &Facts) -> Vec<Rlimit> {
        let mut rlimits = Vec::new();
        let mut limit = |resource, value| rlimits.push(Rlimit { resource, value });
        if let Some(files) = plan.limits.open_files {
            limit(Resource::OpenFiles, files.into());
        }
        if let Some(size) = plan.limits.file_size {
            limit(Resource::FileSize, size.get());
        }
        if let Some(memory) = plan.limits.memory.filter(|_| facts.limits.memory.is_none()) {
            limit(Resource::Data, memory.get());
        }
        if let Some(pids) = plan.limits.pids
            && facts.limits.pids.is_none()
            && isolation::nproc_holds(facts, self.walls)
        {
            // PID 1 of the cell counts too.
            limit(Resource::Processes, u64::from(pids) + 1);
        }
        rlimits
    }
}

/// A name for a cell's control groups that no other cell of this machine has: process ids are unique while their
/// process lives, and the keeper removes the groups when the cell goes.
pub(crate) fn group_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("agentctl-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
