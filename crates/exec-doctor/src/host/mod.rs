//! What of this machine stands in a sandbox's way. Looked up once; what it means is pure.

mod look;

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
    pub cgroups: Cgroups,
    /// We are inside a container ourselves, by what says so.
    pub container: Option<String>,
    /// The kernel enforces `SELinux` labels.
    pub selinux: bool,
    /// Which Windows Subsystem for Linux this is.
    pub wsl: Option<u8>,
}

/// A kernel setting that keeps ordinary users from making namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NamespaceBan {
    /// `user.max_user_namespaces` is 0.
    NoneAllowed,
    /// Debian's `kernel.unprivileged_userns_clone` is 0.
    NotForOrdinaryUsers,
    /// Ubuntu's `kernel.apparmor_restrict_unprivileged_userns` is 1.
    AppArmor,
}

impl NamespaceBan {
    /// What lifts it.
    pub fn fix(self) -> &'static str {
        match self {
            Self::NoneAllowed => "sudo sysctl -w user.max_user_namespaces=10000",
            Self::NotForOrdinaryUsers => "sudo sysctl -w kernel.unprivileged_userns_clone=1",
            Self::AppArmor => {
                "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with `userns,` for this program"
            }
        }
    }
}

/// Control groups, as far as this process can use them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cgroups {
    /// There are none.
    #[default]
    None,
    /// They are there, and not ours to use.
    NotOurs,
    /// We can make groups of our own.
    Ours,
}

impl Cgroups {
    /// What would make limits hold.
    pub(crate) fn fix(self) -> &'static str {
        match self {
            Self::None => "mount control groups at /sys/fs/cgroup, or use a container (--sandbox docker)",
            Self::NotOurs => {
                "run it where control groups are delegated: `systemd-run --user --scope -p Delegate=yes agentctl …`, as root, or use a container (--sandbox docker)"
            }
            Self::Ours => "see which control groups are mounted: `cat /proc/self/cgroup`",
        }
    }
}

impl Host {
    /// Looks at this machine.
    pub fn look() -> Self {
        look::below(std::path::Path::new("/"))
    }

    /// What there is to know before a sandbox is tried; nothing about what is as it mostly is.
    pub fn checks(&self) -> Vec<Check> {
        let namespaces = self.namespace_ban.filter(|ban| !self.root || *ban == NamespaceBan::NoneAllowed);
        let checks = [
            namespaces.map(|ban| ("namespaces", Verdict::weak(self.who_may_not(), ban.fix()))),
            (self.cgroups != Cgroups::Ours).then(|| {
                let found = match self.cgroups {
                    Cgroups::None => "there are none: limits of a local sandbox hold in part only",
                    _ => "not ours to use: limits of a local sandbox hold in part only",
                };
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
