//! Properties of this machine that limit sandboxes. Read once; their evaluation is pure.

mod look;

use exec_core::{ControlGroups, NamespaceBan, Remedy};
use serde::Serialize;

use crate::{Check, Verdict};

/// This machine, as far as sandboxes are concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Whether we are root.
    pub root: bool,
    /// What prevents ordinary users from creating namespaces.
    pub namespace_ban: Option<NamespaceBan>,
    /// Where limits of a whole cell could be enforced.
    pub cgroups: ControlGroups,
    /// The sign that we are inside a container ourselves.
    pub container: Option<String>,
    /// Whether the kernel enforces `SELinux` labels.
    pub selinux: bool,
    /// The version of the Windows Subsystem for Linux, if this is one.
    pub wsl: Option<u8>,
}

impl Host {
    /// Inspects this machine.
    pub fn look() -> Self {
        look::below(std::path::Path::new("/"))
    }

    /// What to know before trying a sandbox. Usual properties are not listed.
    pub fn checks(&self) -> Vec<Check> {
        let namespaces = self.namespace_ban.filter(|ban| !self.root || ban.is_for_root());
        let checks = [
            namespaces.map(|ban| ("namespaces", Verdict::weak(self.who_may_not(), Remedy::host(ban.fix())))),
            self.cgroups.problem().map(|problem| {
                let found = format!("{problem}: limits of a local sandbox hold in part only");
                ("control groups", Verdict::weak(found, self.cgroups.fix()))
            }),
            self.container.as_ref().map(|sign| {
                let found = format!("this machine is one ({sign}), which decides what is available here");
                ("container", Verdict::holds(found))
            }),
            self.selinux.then(|| {
                ("SELinux", Verdict::holds("enforcing: files need a label that containers may use; Podman gives it, for Docker see `man docker-run`, `:z`"))
            }),
            self.wsl.map(|version| ("WSL", wsl(version))),
        ];
        checks.into_iter().flatten().map(|(name, verdict)| Check { name, verdict }).collect()
    }

    /// Extends a fix for an unusable engine with advice for this machine.
    pub fn how_to_reach_an_engine(&self, fix: Remedy) -> Remedy {
        match &self.container {
            None => fix,
            Some(_) => fix.or(Remedy::host(
                "for an engine outside this container, start it with the engine's socket and the workspace mounted at their own paths",
            )),
        }
    }

    fn who_may_not(&self) -> &'static str {
        if self.root { "no user may make them" } else { "ordinary users may not make them" }
    }
}

fn wsl(version: u8) -> Verdict {
    match version {
        1 => Verdict::fails(
            "WSL 1 has no namespaces and no engine",
            Remedy::host("run `wsl --set-version <distribution> 2`"),
        ),
        _ => Verdict::holds("WSL 2: for Docker Desktop, turn on Settings > Resources > WSL integration"),
    }
}

#[cfg(test)]
mod tests;
