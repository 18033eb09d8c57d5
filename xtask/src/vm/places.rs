//! Places where limits have to hold while the caller's own groups stay unchanged.

/// A place, and how to get there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) name: &'static str,
    /// The user who logs in.
    pub(super) login: &'static str,
    /// The command that runs the check there.
    around: &'static str,
}

/// All of them.
pub(super) const PLACES: &[Place] = &[
    Place { name: "root's login", login: "root", around: "" },
    Place { name: "a service", login: "root", around: "systemd-run -q --wait --pipe" },
    Place {
        name: "a delegated service",
        login: "root",
        around: "systemd-run -q --wait --pipe -p Delegate=yes",
    },
    Place {
        name: "a service delegated to a user without a session",
        login: "root",
        around: "systemd-run -q --wait --pipe -p Delegate=yes --uid nosession",
    },
    Place {
        name: "a container with a control group it can write",
        login: "root",
        around: "podman run --rm --privileged -v /srv/agentctl:/srv/agentctl:ro --rootfs /:O",
    },
    Place { name: "a user's login", login: "user", around: "" },
    Place {
        name: "a user's delegated scope",
        login: "user",
        around: "systemd-run --user -q --scope -p Delegate=yes",
    },
    Place { name: "a user's service", login: "user", around: "systemd-run --user -q --wait --pipe" },
    Place {
        name: "a user's delegated service",
        login: "user",
        around: "systemd-run --user -q --wait --pipe -p Delegate=yes",
    },
];

impl Place {
    /// The line that runs the check.
    pub(super) fn script(&self) -> String {
        format!("{} sh /srv/agentctl/check-limits.sh", self.around)
    }
}
