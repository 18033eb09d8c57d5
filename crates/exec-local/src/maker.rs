//! Makes local cells on Linux.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use exec_cell::{CellIo, CellMaker};
use exec_control::Watch;
use exec_core::{Capabilities, ControlGroups, Fences, Isolation, Plan, Prepared, Remedy, Result};
use exec_host::HostView;
use exec_init::Executable;
use exec_wire::{Facts, JailSpec, Resource, Rlimit, Walls};

use crate::config::NAME;
use crate::isolation;
use crate::jail::{self, Caller, WallKind};
use crate::os::linux::spawn;
use crate::secrets;

/// Makes cells with one kind of walls.
#[derive(Debug)]
pub(crate) struct LocalMaker {
    walls: WallKind,
    caller: Caller,
    host: HostView,
    /// The system's secrets, searched when the first cell needs them hidden.
    secrets: OnceLock<Vec<PathBuf>>,
    program: Arc<Executable>,
    capabilities: Capabilities,
    watch: Watch,
}

impl LocalMaker {
    /// A maker of cells with these walls. Its capabilities are empty until a first cell has reported.
    pub(crate) fn new(
        walls: WallKind,
        caller: Caller,
        host: HostView,
        program: Arc<Executable>,
        watch: Watch,
    ) -> Self {
        let (capabilities, secrets) = (isolation::nothing_yet(walls), OnceLock::new());
        Self { walls, caller, host, secrets, program, capabilities, watch }
    }

    /// Sets the capabilities from the facts of a first cell.
    pub(crate) fn learn(&mut self, facts: &Facts) {
        self.capabilities = isolation::capabilities(self.walls, facts);
    }

    /// Makes a cell, after giving it unique names and whatever `finish` adds.
    pub(crate) async fn make_named(
        &self,
        mut spec: JailSpec,
        finish: impl FnOnce(&mut JailSpec) + Send,
    ) -> Result<CellIo> {
        let seat = self.watch.expect(NAME)?;
        let mut own_directory = None;
        if let Walls::Subreaper { scratch } = &mut spec.walls {
            let directory = std::env::temp_dir().join(seat.name());
            *scratch = directory.as_os_str().as_bytes().to_vec();
            own_directory = Some(directory);
        }
        seat.name().clone_into(&mut spec.cgroup.name);
        spec.records = seat.files().map(OsStringExt::into_vec).into();
        spec.log_note = self.watch.log_note().into_os_string().into_vec();
        spawn(&self.program, spec, finish, seat, own_directory).await
    }

    /// Only for root, because other users' commands can't read them anyway, and only where they can be
    /// hidden.
    fn mask_secrets(&self, spec: &mut JailSpec) {
        if self.caller.uid == 0 && self.walls == WallKind::Namespaces {
            let secrets = self.secrets.get_or_init(|| secrets::find(&self.watch));
            jail::mask_secrets(spec, &self.host, secrets);
        }
    }

    pub(crate) fn walls(&self) -> WallKind {
        self.walls
    }

    pub(crate) fn caller(&self) -> Caller {
        self.caller
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

    fn fences(&self) -> Fences {
        if self.walls == WallKind::Subreaper { Fences::None } else { Fences::Hold }
    }

    async fn adjust(&self, plan: &mut Plan) -> Result<()> {
        if !plan.env.contains_key(OsStr::new("HOME")) {
            plan.env.insert("HOME".into(), "/tmp".into());
        }
        Ok(())
    }

    fn spec(&self, plan: &Prepared) -> Result<JailSpec> {
        jail::spec(plan, self.walls, self.caller, &self.host)
    }

    fn watch(&self) -> &Watch {
        &self.watch
    }

    async fn make(&self, spec: &JailSpec) -> Result<CellIo> {
        self.make_named(spec.clone(), |spec| self.mask_secrets(spec)).await
    }

    fn isolation(&self, spec: &JailSpec, facts: &Facts) -> Isolation {
        isolation::report(spec, facts)
    }

    fn limit_remedy(&self) -> Remedy {
        ControlGroups::look().fix()
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
