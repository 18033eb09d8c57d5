//! The facts about this host that explain why no Podman was found, and whether we can start a service.

use std::path::PathBuf;

use crate::runtime::Cgroups;
use crate::{HostEnvironment, System};

/// The facts that the remedy depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The operating system.
    pub system: System,
    /// The path of the `podman` CLI, if it is on the search path.
    pub program: Option<PathBuf>,
    /// The versions of control groups that are mounted.
    pub(crate) cgroups: Cgroups,
}

impl Facts {
    /// Inspects the host.
    pub fn look(around: &dyn HostEnvironment) -> Self {
        Self { system: around.system(), program: around.program("podman"), cgroups: Cgroups::look(around) }
    }
}
