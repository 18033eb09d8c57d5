//! Kernel settings that keep processes from creating namespaces.

use std::path::Path;

use serde::Serialize;

/// Kernel settings that forbid namespaces: file, forbidding value.
const BANS: [(&str, &str, NamespaceBan); 3] = [
    ("proc/sys/user/max_user_namespaces", "0", NamespaceBan::NoneAllowed),
    ("proc/sys/kernel/unprivileged_userns_clone", "0", NamespaceBan::NotForOrdinaryUsers),
    ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", NamespaceBan::AppArmor),
];

/// A kernel setting that keeps users from creating namespaces.
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
    /// The ban in force on this machine, for all users or for some.
    pub fn look() -> Option<Self> {
        Self::below(Path::new("/"))
    }

    /// The ban in force for the user of this process.
    pub fn of_this_user() -> Option<Self> {
        Self::look().filter(|ban| ban.is_for_root() || !super::is_root())
    }

    /// The ban in force according to the kernel's files below `root`.
    pub fn below(root: &Path) -> Option<Self> {
        let read = |file| std::fs::read_to_string(root.join(file)).unwrap_or_default();
        let found = BANS.iter().find(|(file, forbidding, _)| read(file).trim() == *forbidding);
        found.map(|(_, _, ban)| *ban)
    }

    /// Whether it applies to root too.
    pub fn is_for_root(self) -> bool {
        self == Self::NoneAllowed
    }

    /// The setting, as `sysctl` shows it.
    pub fn setting(self) -> &'static str {
        match self {
            Self::NoneAllowed => "user.max_user_namespaces=0",
            Self::NotForOrdinaryUsers => "kernel.unprivileged_userns_clone=0",
            Self::AppArmor => "kernel.apparmor_restrict_unprivileged_userns=1",
        }
    }

    /// How to lift it.
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::tree;
    use super::*;

    /// R65
    #[rstest]
    #[case::none(&[("proc/sys/user/max_user_namespaces", "0\n")], Some(NamespaceBan::NoneAllowed))]
    #[case::debian(&[("proc/sys/kernel/unprivileged_userns_clone", "0\n")], Some(NamespaceBan::NotForOrdinaryUsers))]
    #[case::ubuntu(&[("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")], Some(NamespaceBan::AppArmor))]
    #[case::allowed(&[("proc/sys/user/max_user_namespaces", "95000\n"), ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n")], None)]
    fn what_forbids_namespaces_is_known(#[case] files: &[(&str, &str)], #[case] ban: Option<NamespaceBan>) {
        assert_eq!(NamespaceBan::below(tree(files).path()), ban);
    }
}
