//! What of this machine stands in a sandbox's way. Looked up once; what it means is pure.

mod look;

use exec_core::{ControlGroups, NamespaceBan};
use serde::Serialize;

use crate::{Check, Verdict};

/// This machine, as far as sandboxes are concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Host {
    /// We are root.
    pub root: bool,
    /// What keeps ordinary users from making namespaces.
    pub namespace_ban: Option<NamespaceBan>,
    /// Where limits of a whole cell could be held.
    pub cgroups: ControlGroups,
    /// We are inside a container ourselves, by what says so.
    pub container: Option<String>,
    /// The kernel enforces `SELinux` labels.
    pub selinux: bool,
    /// Which Windows Subsystem for Linux this is.
    pub wsl: Option<u8>,
}

impl Host {
    /// Looks at this machine.
    pub fn look() -> Self {
        look::below(std::path::Path::new("/"))
    }

    /// What there is to know before a sandbox is tried; nothing about what is as it mostly is.
    pub fn checks(&self) -> Vec<Check> {
        let namespaces = self.namespace_ban.filter(|ban| !self.root || ban.is_for_root());
        let checks = [
            namespaces.map(|ban| ("namespaces", Verdict::weak(self.who_may_not(), ban.fix()))),
            self.cgroups.problem().map(|problem| {
                let found = format!("{problem}: limits of a local sandbox hold in part only");
                ("control groups", Verdict::weak(found, self.cgroups.fix()))
            }),
            self.container.as_ref().map(|sign| {
                let found = format!("this is the inside of one ({sign}): what can be had here is its to allow");
                ("container", Verdict::holds(found))
            }),
            self.selinux.then(|| {
                ("SELinux", Verdict::holds("enforcing: files need a label that containers may use; Podman gives it, for Docker see `man docker-run`, `:z`"))
            }),
            self.wsl.map(|version| ("WSL", wsl(version))),
        ];
        checks.into_iter().flatten().map(|(name, verdict)| Check { name, verdict }).collect()
    }

    /// What would make an engine usable that is not, seen from where we are.
    pub fn how_to_reach_an_engine(&self, fix: &str) -> String {
        match &self.container {
            None => fix.to_owned(),
            Some(_) => format!(
                "{fix}; for an engine outside this container, start it with the engine's socket and the workspace mounted at their own paths"
            ),
        }
    }

    fn who_may_not(&self) -> &'static str {
        if self.root { "nobody may make them" } else { "ordinary users may not make them" }
    }
}

fn wsl(version: u8) -> Verdict {
    match version {
        1 => Verdict::fails("WSL 1 has no namespaces and no engine", "`wsl --set-version <distribution> 2`"),
        _ => Verdict::holds("WSL 2: for Docker Desktop, turn on Settings > Resources > WSL integration"),
    }
}

#[cfg(test)]
mod tests;
