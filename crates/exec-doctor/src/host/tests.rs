//! Machines of all kinds, as trees of files.

use std::fs;

use rstest::rstest;
use tempfile::TempDir;

use super::*;

fn machine(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn look(files: &[(&str, &str)]) -> Host {
    look::below(machine(files).path())
}

/// R65
#[rstest]
#[case::none(&[("proc/sys/user/max_user_namespaces", "0\n")], Some(NamespaceBan::NoneAllowed))]
#[case::debian(&[("proc/sys/kernel/unprivileged_userns_clone", "0\n")], Some(NamespaceBan::NotForOrdinaryUsers))]
#[case::ubuntu(&[("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")], Some(NamespaceBan::AppArmor))]
#[case::allowed(&[("proc/sys/user/max_user_namespaces", "95000\n"), ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n")], None)]
fn what_forbids_namespaces_is_known(#[case] files: &[(&str, &str)], #[case] ban: Option<NamespaceBan>) {
    assert_eq!(look(files).namespace_ban, ban);
}

#[test]
fn control_groups_are_ours_where_we_can_make_one() {
    assert_eq!(look(&[]).cgroups, Cgroups::None);
    let v2 = [("sys/fs/cgroup/cgroup.controllers", ""), ("proc/self/cgroup", "0::/user.slice/x.scope\n")];
    assert_eq!(
        look(&[v2[0], v2[1], ("sys/fs/cgroup/user.slice/x.scope/cgroup.procs", "")]).cgroups,
        Cgroups::Ours
    );
    let hybrid =
        [("proc/self/cgroup", "12:pids:/a\n5:memory:/b\n0::/\n"), ("sys/fs/cgroup/memory/b/tasks", "")];
    assert_eq!(look(&hybrid).cgroups, Cgroups::Ours);
}

#[test]
fn where_we_are_is_known() {
    assert_eq!(look(&[(".dockerenv", "")]).container.as_deref(), Some("/.dockerenv"));
    assert_eq!(look(&[("run/.containerenv", "")]).container.as_deref(), Some("/run/.containerenv"));
    assert!(look(&[("sys/fs/selinux/enforce", "1")]).selinux);
    let release = |text| look(&[("proc/sys/kernel/osrelease", text)]).wsl;
    assert_eq!(release("5.15.153.1-microsoft-standard-WSL2\n"), Some(2));
    assert_eq!(release("4.4.0-19041-Microsoft\n"), Some(1));
    assert_eq!(release("6.1.0-18-amd64\n"), None);
}

/// R65: every machine's trouble with its fix.
#[test]
fn what_is_told() {
    let bans = [NamespaceBan::NoneAllowed, NamespaceBan::NotForOrdinaryUsers, NamespaceBan::AppArmor];
    let plain = Host { cgroups: Cgroups::Ours, ..Host::default() };
    let mut hosts: Vec<Host> =
        bans.iter().map(|ban| Host { namespace_ban: Some(*ban), ..plain.clone() }).collect();
    hosts.push(Host { cgroups: Cgroups::NotOurs, ..plain.clone() });
    hosts.push(Host { cgroups: Cgroups::None, ..plain.clone() });
    hosts.push(Host { container: Some("/.dockerenv".into()), ..plain.clone() });
    hosts.push(Host { selinux: true, ..plain.clone() });
    hosts.extend([1, 2].map(|version| Host { wsl: Some(version), ..plain.clone() }));
    hosts.push(Host { root: true, namespace_ban: Some(NamespaceBan::AppArmor), ..plain.clone() });
    hosts.push(plain);
    let told: Vec<_> = hosts.iter().map(Host::checks).collect();
    assert!(told.iter().rev().take(2).all(Vec::is_empty), "nothing is the matter with the last two");
    insta::assert_debug_snapshot!(told);
}
