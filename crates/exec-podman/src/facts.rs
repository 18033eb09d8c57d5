//! What of this host tells why there is no Podman, and whether we can help ourselves.

use std::path::PathBuf;

use crate::runtime::Cgroups;
use crate::{HostEnvironment, System};

/// What the remedy depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What sort of system it is.
    pub system: System,
    /// Where Podman's program is, if it is on the search path.
    pub program: Option<PathBuf>,
    /// How its kernel counts what processes use.
    pub(crate) cgroups: Cgroups,
}

impl Facts {
    /// Looks around.
    pub fn look(around: &dyn HostEnvironment) -> Self {
        Self { system: around.system(), program: around.program("podman"), cgroups: Cgroups::look(around) }
    }
}
