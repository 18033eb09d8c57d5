//! The translation, as readable text.

use std::fmt::Write;

use exec_core::{Cmd, DangerousMounts, ExecOpts, MountSpec, OwnPlaces, Plan, WorkspaceMode};
use rstest::rstest;

use std::os::unix::fs::PermissionsExt;

use super::*;

const ORDINARY: Caller = Caller { uid: 1000, gid: 1000, rules_all_ids: false };
const ROOT: Caller = Caller { uid: 0, gid: 0, rules_all_ids: true };

fn host() -> HostView {
    HostView {
        system: vec![
            SystemEntry::Directory("/usr".into()),
            SystemEntry::Link {
                path: "/bin".into(),
                to: "usr/bin".into(),
                directory: Some("/usr/bin".into()),
            },
            SystemEntry::Directory("/etc".into()),
        ],
        secrets: Vec::new(),
        toolchains: vec!["/home/ada/.cargo/bin".into()],
        credentials: vec!["/home/ada/.cargo/bin/.netrc".into()],
        home: Some("/home/ada".into()),
    }
}

/// A plan whose paths are the same on every machine.
fn plan(opts: &ExecOpts) -> Plan {
    let mut plan =
        Plan::resolve(&Cmd::new("true"), opts, [("HOME".into(), "/home/ada".into())], &OwnPlaces::default())
            .unwrap();
    let workspace = std::mem::replace(&mut plan.workspace, "/home/ada/project".into());
    for mount in &mut plan.mounts {
        for path in [&mut mount.source, &mut mount.target] {
            if let Ok(below) = path.strip_prefix(&workspace) {
                *path = Path::new("/home/ada/project").join(below).components().collect();
            }
        }
        mount.id = exec_core::FileId { dev: 1, ino: 2, born: 3 };
    }
    plan.workspace_owner = (1000, 1000);
    plan
}

fn describe(spec: &JailSpec) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut out = format!("as {}:{}\n", spec.identity.uid, spec.identity.gid);
    if let Walls::Namespaces(namespaces) = &spec.walls {
        writeln!(out, "ids {:?}, network {:?}", namespaces.ids, namespaces.network).unwrap();
        for mount in &namespaces.mounts {
            match mount {
                Mount::Bind { source, target, access, expect, missing } => {
                    let checked = if expect.is_some() { "checked" } else { "as found" };
                    writeln!(
                        out,
                        "bind {} at {} {access:?} {checked} {missing:?}",
                        text(source),
                        text(target)
                    )
                    .unwrap();
                }
                Mount::Tmpfs { target, size, mode } => {
                    writeln!(out, "tmpfs {} {} {mode:o}", text(target), ByteSize::bytes(*size)).unwrap();
                }
                Mount::Mask { target } => writeln!(out, "mask {}", text(target)).unwrap(),
                Mount::Symlink { target, to } => {
                    writeln!(out, "link {} -> {}", text(target), text(to)).unwrap();
                }
                other => writeln!(out, "{other:?}").unwrap(),
            }
        }
    }
    if let Some(landlock) = &spec.landlock {
        let list = |paths: &[Vec<u8>]| paths.iter().map(|path| text(path)).collect::<Vec<_>>().join(" ");
        writeln!(out, "landlock read {}", list(&landlock.read)).unwrap();
        writeln!(out, "landlock write {}", list(&landlock.write)).unwrap();
        writeln!(out, "deny tcp {}", landlock.deny_tcp).unwrap();
    }
    out
}

fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("target")).unwrap();
    dir
}

/// R20, R21, R24
#[rstest]
#[case::ordinary_user("ordinary", ORDINARY, WallKind::Namespaces)]
#[case::root("root", ROOT, WallKind::Namespaces)]
#[case::subreaper("subreaper", ORDINARY, WallKind::Subreaper)]
fn a_default_run(#[case] name: &str, #[case] caller: Caller, #[case] walls: WallKind) {
    let dir = workspace();
    let mut spec = spec(&plan(&ExecOpts::in_workspace(dir.path())), walls, caller, &host()).unwrap();
    if caller == ROOT {
        mask_secrets(&mut spec, &host(), &["/etc/shadow".into()]);
    }
    insta::assert_snapshot!(name, describe(&spec));
}

/// R21, R22, R30
#[test]
fn a_run_with_everything() {
    let dir = workspace();
    let mut opts = ExecOpts::in_workspace(dir.path())
        .with_workspace_mode(WorkspaceMode::ReadOnly { writable: vec!["target".into()] })
        .with_mount(MountSpec::read_write("/usr/share").at("/data"))
        .with_network(Network::Host);
    opts.dangerous_mounts = DangerousMounts::Accept;
    let mut spec = spec(&plan(&opts), WallKind::Namespaces, ORDINARY, &host()).unwrap();
    // The resolver's location depends on the machine.
    if let Walls::Namespaces(namespaces) = &mut spec.walls {
        namespaces.mounts.retain(
            |mount| !matches!(mount, Mount::Bind { target, .. } if text_ends_with(target, "resolv.conf")),
        );
    }
    insta::assert_snapshot!("everything", describe(&spec));
}

fn text_ends_with(path: &[u8], end: &str) -> bool {
    String::from_utf8_lossy(path).ends_with(end)
}

/// A13, R25: without walls the repository of a linked worktree is writable only where every worktree writes.
#[test]
fn what_has_writable_parts_is_not_opened_as_a_whole() {
    let dir = workspace();
    let mut plan = plan(&ExecOpts::in_workspace(dir.path()));
    let parts = [
        ("", Access::ReadWrite),
        ("/config", Access::ReadOnly),
        ("/refs", Access::ReadWrite),
        ("/worktrees", Access::ReadOnly),
        ("/worktrees/own", Access::ReadWrite),
        ("/worktrees/own/gitdir", Access::ReadOnly),
    ];
    plan.mounts.extend(parts.map(|(name, access)| {
        let path = PathBuf::from(format!("/srv/main/.git{name}"));
        PlannedMount { source: path.clone(), target: path, access, id: plan.mounts[0].id }
    }));
    let fence = fence(&plan, &host());
    let below = |paths: &[Vec<u8>]| {
        let texts = paths.iter().map(|path| String::from_utf8_lossy(path).into_owned());
        texts.filter_map(|path| path.strip_prefix("/srv/main/").map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(below(&fence.write), [".git/refs", ".git/worktrees/own"]);
    assert!(below(&fence.read).contains(&".git".to_owned()));
}

#[test]
fn what_cannot_be_held_is_refused() {
    let dir = workspace();
    let other_user = ExecOpts::in_workspace(dir.path()).with_user(User::Id { uid: 5, gid: 5 });
    let error = spec(&plan(&other_user), WallKind::Namespaces, ORDINARY, &host()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let error = spec(&plan(&other_user), WallKind::Namespaces, ROOT, &host()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "it can't write the workspace: {error}");
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(spec(&plan(&other_user), WallKind::Namespaces, ROOT, &host()).is_ok());
    let no_network = ExecOpts::in_workspace(dir.path()).with_network(Network::None);
    let error = spec(&plan(&no_network), WallKind::Subreaper, ORDINARY, &host()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.remedy().is_some());
}

/// Equal requests share warm cells; details that vary from command to command do not matter.
#[test]
fn the_specification_is_exact() {
    let dir = workspace();
    let spec_of = |opts: &ExecOpts| spec(&plan(opts), WallKind::Namespaces, ORDINARY, &host()).unwrap();
    let opts = ExecOpts::in_workspace(dir.path());
    assert_eq!(
        spec_of(&opts),
        spec_of(&opts.clone().with_env("A", "b").with_timeout(std::time::Duration::from_secs(1)))
    );
    assert_ne!(spec_of(&opts), spec_of(&opts.clone().with_pids(9)));
    assert_ne!(spec_of(&opts), spec_of(&opts.clone().with_network(Network::Host)));
}
