//! Many kinds of machines, as trees of files.

use std::fs;

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

#[test]
fn the_kind_of_machine_is_known() {
    assert_eq!(look(&[(".dockerenv", "")]).container.as_deref(), Some("/.dockerenv"));
    assert_eq!(look(&[("run/.containerenv", "")]).container.as_deref(), Some("/run/.containerenv"));
    assert!(look(&[("sys/fs/selinux/enforce", "1")]).selinux);
    let release = |text| look(&[("proc/sys/kernel/osrelease", text)]).wsl;
    assert_eq!(release("5.15.153.1-microsoft-standard-WSL2\n"), Some(2));
    assert_eq!(release("4.4.0-19041-Microsoft\n"), Some(1));
    assert_eq!(release("6.1.0-18-amd64\n"), None);
}

/// R65: every machine's problem with its fix.
#[test]
fn problems_come_with_fixes() {
    let bans = [NamespaceBan::NoneAllowed, NamespaceBan::NotForOrdinaryUsers, NamespaceBan::AppArmor];
    let plain = Host { cgroups: ControlGroups::Ours, ..Host::default() };
    let mut hosts: Vec<Host> =
        bans.iter().map(|ban| Host { namespace_ban: Some(*ban), ..plain.clone() }).collect();
    hosts.extend(
        [
            ControlGroups::None,
            ControlGroups::RootsAlone,
            ControlGroups::NoUserManager,
            ControlGroups::PartlyDelegated,
            ControlGroups::SealedContainer,
            ControlGroups::NotDelegated,
        ]
        .map(|cgroups| Host { cgroups, ..plain.clone() }),
    );
    hosts.push(Host { container: Some("/.dockerenv".into()), ..plain.clone() });
    hosts.push(Host { selinux: true, ..plain.clone() });
    hosts.extend([1, 2].map(|version| Host { wsl: Some(version), ..plain.clone() }));
    hosts.push(Host { root: true, namespace_ban: Some(NamespaceBan::AppArmor), ..plain.clone() });
    hosts.push(plain);
    let reports: Vec<Vec<String>> =
        hosts.iter().map(|host| host.checks().iter().map(in_words).collect()).collect();
    assert!(reports.iter().rev().take(2).all(Vec::is_empty), "the last two have no problems");
    insta::assert_snapshot!(reports.concat().join("\n"));
}

fn in_words(Check { name, verdict }: &Check) -> String {
    match verdict {
        Verdict::Holds { found } => format!("{name}: {found}"),
        Verdict::Weak { found, fix } => format!("{name}, weak: {found}\n-> {fix}"),
        Verdict::Fails { found, fix } => format!("{name}, fails: {found}\n-> {fix}"),
        Verdict::NotTried { why } => format!("{name}, not tried: {why}"),
    }
}
