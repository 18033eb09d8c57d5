//! Bad input is refused before anything starts, and the error names the culprit and the fix.

use std::fs;
use std::os::unix::fs::symlink;

use rstest::{fixture, rstest};
use tempfile::TempDir;

use super::git::place::Place;
use super::*;
use crate::{ByteSize, Limit, MountSpec, WorkspaceMode};

/// A workspace with a file, a subdirectory, and links that lead out of it.
#[fixture]
fn workspace() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    symlink("/usr", dir.path().join("out")).unwrap();
    dir
}

fn resolve(opts: &ExecOpts) -> Result<Plan> {
    Plan::resolve(&Cmd::new("true"), opts, [], &OwnPlaces::default())
}

/// Every mount of the plan's cell, the fences included.
fn mounts(opts: &ExecOpts) -> Vec<PlannedMount> {
    all_mounts(&resolve(opts).unwrap())
}

fn all_mounts(plan: &Plan) -> Vec<PlannedMount> {
    let fences = plan.fences.iter().map(|fence| fence.put_up().unwrap());
    plan.mounts.iter().cloned().chain(fences).collect()
}

fn refusal(opts: &ExecOpts) -> String {
    let error = resolve(opts).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.remedy().is_some(), "{error}");
    error.to_string()
}

#[rstest]
fn defaults_are_the_workspace_writable_at_its_own_path(workspace: TempDir) {
    let plan = resolve(&ExecOpts::in_workspace(workspace.path())).unwrap();
    let real = workspace.path().canonicalize().unwrap();
    assert_eq!((&plan.cwd, &plan.workspace), (&real, &real));
    assert_eq!((plan.mounts.len(), plan.mounts[0].access), (1, Access::ReadWrite));
}

/// A36
#[rstest]
#[case::missing("nowhere", "can't be used")]
#[case::not_a_directory("file", "is not a directory")]
#[case::climbing("sub/../..", "contains `..`")]
#[case::outside("/usr", "is outside the workspace")]
#[case::link_that_leads_out("out/bin", "is outside the workspace")]
fn bad_working_directories(workspace: TempDir, #[case] cwd: &str, #[case] says: &str) {
    let message = refusal(&ExecOpts::in_workspace(workspace.path()).with_cwd(cwd));
    assert!(message.contains(says) && message.contains(cwd), "{message}");
}

/// A36, R22
#[rstest]
#[case::missing(&["/nowhere"], "`/nowhere` can't be used")]
#[case::whole_host(&["/:/host"], "is refused")]
#[case::etc(&["/etc:/data"], "is refused")]
#[case::covers_usr(&["/opt:/usr"], "would cover")]
#[case::into_proc(&["/opt:/proc/x"], "would cover")]
#[case::twice(&["/usr/bin:/data", "/usr/lib:/data"], "overlap")]
#[case::nested(&["/usr/bin:/data", "/usr/lib:/data/lib"], "overlap")]
#[case::both_ways(&["/usr/lib:/a:ro", "/usr/lib:/b:rw"], "overlap on the host")]
fn bad_mounts(workspace: TempDir, #[case] mounts: &[&str], #[case] says: &str) {
    let mut opts = ExecOpts::in_workspace(workspace.path());
    opts.mounts = mounts.iter().map(|text| text.parse().unwrap()).collect();
    let message = refusal(&opts);
    assert!(message.contains(says), "{message}");
}

/// R22: a link as a mount source is resolved before it is checked.
#[rstest]
fn a_link_to_a_forbidden_place_is_forbidden(workspace: TempDir) {
    let link = workspace.path().join("innocent");
    symlink("/etc", &link).unwrap();
    let opts = ExecOpts::in_workspace(workspace.path().join("sub"))
        .with_mount(MountSpec::read_only(link).at("/data"));
    assert!(refusal(&opts).contains("is refused"));
}

/// R21
#[rstest]
fn writable_paths_lie_inside(workspace: TempDir) {
    let mode = |path: &str| WorkspaceMode::ReadOnly { writable: vec![path.into()] };
    let opts = |path: &str| ExecOpts::in_workspace(workspace.path()).with_workspace_mode(mode(path));
    assert_eq!(resolve(&opts("sub")).unwrap().mounts[1].access, Access::ReadWrite);
    assert!(refusal(&opts("out")).contains("is not inside the workspace"));
    assert!(refusal(&opts("nowhere")).contains("can't be used"));
}

/// A13, R21: for every spelling of the path.
#[rstest]
#[case(".git")]
#[case("./.git/")]
#[case("sub/../.git")]
fn a_writable_repository_is_protected(#[case] path: &str) {
    let place = Place::new();
    place.repository(".git");
    fs::create_dir(place.path.join("sub")).unwrap();
    let mode = WorkspaceMode::ReadOnly { writable: vec![path.into()] };
    let mounts = mounts(&ExecOpts::in_workspace(&place.path).with_workspace_mode(mode));
    let config = mounts.iter().find(|mount| mount.target.ends_with(".git/config")).unwrap();
    assert_eq!(config.access, Access::ReadOnly);
}

/// A13, A38: a command may have planted it, to write in its next run what it could not write in this one.
#[rstest]
#[case::hooks(".git/hooks", "takes orders from there")]
#[case::in_another_case(".git/HOOKS/../hooks", "takes orders from there")]
#[case::of_another_repository("sub/.git", "takes orders from there")]
#[case::through_a_link("link", "is reached through a link")]
#[case::through_a_link_on_the_way("up/hooks", "is reached through a link")]
#[case::configuration(".agentctl.toml", "which no command may change")]
fn what_may_be_written_is_neither_orders_nor_links(#[case] path: &str, #[case] says: &str) {
    let place = Place::new();
    place.repository(".git");
    place.repository("sub/.git");
    place.file(".git/hooks/x", "");
    place.file(".git/HOOKS/x", "");
    place.file(".agentctl.toml", "");
    place.link("link", ".git/hooks");
    place.link("up", ".git");
    let mode = WorkspaceMode::ReadOnly { writable: vec![path.into()] };
    let mut opts = ExecOpts::in_workspace(&place.path).with_workspace_mode(mode);
    opts.kept_files = vec![".agentctl.toml".into()];
    let message = refusal(&opts);
    assert!(message.contains(says), "{message}");
}

/// A3, A38: a link in the workspace does not decide which part of the host is mounted.
#[rstest]
#[case::last("out/bin:/data:rw")]
#[case::by_its_full_name("@/out:/data:ro")]
#[case::with_dots("@/sub/../out:/data:ro")]
fn a_mount_is_not_led_out_of_the_workspace(workspace: TempDir, #[case] mount: &str) {
    let path = workspace.path().to_str().unwrap();
    let mount = if mount.starts_with('@') { mount.to_owned() } else { format!("@/{mount}") };
    let mut opts = ExecOpts::in_workspace(workspace.path());
    opts.mounts = vec![mount.replace('@', path).parse().unwrap()];
    let message = refusal(&opts);
    assert!(message.contains("a link leads from there to `/usr"), "{message}");
}

/// A38: mounts that keep a file from being moved away never reach above the writable directories.
#[test]
fn nothing_above_the_workspace_is_mounted_for_a_kept_file() {
    let place = Place::new();
    place.file("deep/er/config.toml", "");
    for writable in ["deep", "deep/er"] {
        let mode = WorkspaceMode::ReadOnly { writable: vec![writable.into()] };
        let mut opts = ExecOpts::in_workspace(&place.path).with_workspace_mode(mode);
        opts.kept_files = vec!["deep/er/config.toml".into()];
        let mounts = mounts(&opts);
        assert!(mounts.iter().all(|mount| mount.target.starts_with(&place.path)), "{mounts:?}");
        let config = mounts.iter().find(|mount| mount.target.ends_with("config.toml")).unwrap();
        assert_eq!(config.access, Access::ReadOnly);
    }
}

fn beside_a_worktree(mount: &str) -> (Place, Result<Plan>) {
    let place = Place::new();
    place.worktree();
    place.file("main/.git/hooks/x", "");
    let mut opts = ExecOpts::in_workspace(place.path.join("own"));
    let path = place.path.to_str().unwrap();
    opts.mounts = vec![mount.replace('@', path).parse().unwrap()];
    (place, resolve(&opts))
}

/// R22, R25: the repository does not get in the way of the requested mounts, and stays on top.
#[rstest]
#[case::main_worktree("@/main:ro")]
#[case::main_worktree_writable("@/main:rw")]
#[case::main_worktree_elsewhere("@/main:/data:ro")]
#[case::repository_elsewhere("@/main/.git:/data:ro")]
#[case::objects_elsewhere("@/main/.git/objects:/data:rw")]
#[case::something_else("/srv:/data:rw")]
fn mounts_beside_a_linked_worktree(#[case] mount: &str) {
    let (place, plan) = beside_a_worktree(mount);
    let mounts = all_mounts(&plan.unwrap());
    let at = |path: &str| mounts.iter().position(|mount| mount.target == place.path.join(path));
    assert!(at("main/.git").unwrap() < at("main/.git/config").unwrap());
    assert!(at("main").is_none_or(|main| main < at("main/.git").unwrap()));
}

/// A13, A36
#[rstest]
#[case::over_it("@/main/.git:rw", "overlaps the workspace's repository")]
#[case::over_its_hooks("/usr/lib:@/main/.git/hooks", "overlaps the workspace's repository")]
#[case::beneath_it("/usr/lib:@/main", "overlaps the workspace's repository")]
#[case::a_second_way_in("@/main/.git:/data:rw", "would be writable at `/data`")]
#[case::to_its_hooks("@/main/.git/hooks:/data:rw", "would be writable at `/data`")]
#[case::to_all_of_main("@/main:/data:rw", "would be writable at `/data`")]
#[case::to_another_worktree("@/main/.git/worktrees:/data:rw", "would be writable at `/data`")]
fn bad_mounts_beside_a_linked_worktree(#[case] mount: &str, #[case] says: &str) {
    let error = beside_a_worktree(mount).1.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains(says) && error.remedy().is_some(), "{error}");
}

#[rstest]
fn limits_that_let_nothing_run(workspace: TempDir) {
    let mut opts = ExecOpts::in_workspace(workspace.path());
    opts.limits.pids = Limit::Exactly(0);
    assert!(refusal(&opts).contains("0 pids"));
    let opts = ExecOpts::in_workspace(workspace.path()).with_memory(ByteSize::bytes(10));
    assert!(refusal(&opts).contains("10 B"));
    let opts = ExecOpts::in_workspace(workspace.path()).with_timeout(Duration::ZERO);
    assert!(refusal(&opts).contains("time-out of 0"));
}

#[rstest]
fn environment_names_and_values(workspace: TempDir) {
    for (name, value) in [("", "x"), ("A=B", "x"), ("A", "x\0y")] {
        refusal(&ExecOpts::in_workspace(workspace.path()).with_env(name, value));
    }
}

#[test]
fn the_workspace_itself() {
    assert!(refusal(&ExecOpts::in_workspace("/nowhere/at/all")).contains("/nowhere/at/all"));
    assert!(refusal(&ExecOpts::in_workspace("/")).contains("is refused"));
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(refusal(&ExecOpts::in_workspace(file.path())).contains("not a directory"));
}

/// A38: named files stay unchanged where the rest is writable; nothing is created, and no link is followed.
#[rstest]
fn kept_files_are_read_only_where_they_are(workspace: TempDir) {
    let kept = |opts: ExecOpts| {
        let mut opts = opts;
        opts.kept_files = ["file", "missing", "out", "sub", "sub/../file"].map(Into::into).into();
        opts.kept_files.push(opts.workspace.path.clone().unwrap().join("file"));
        opts.kept_files.push("/etc/hosts".into());
        mounts(&opts).iter().skip(1).map(|mount| (mount.target.clone(), mount.access)).collect::<Vec<_>>()
    };
    let root = workspace.path().canonicalize().unwrap();
    let opts = ExecOpts::in_workspace(&root);
    assert_eq!(kept(opts.clone()), [(root.join("file"), Access::ReadOnly)]);
    let read_only = WorkspaceMode::ReadOnly { writable: Vec::new() };
    assert_eq!(kept(opts.with_workspace_mode(read_only)), []);
    assert!(!root.join("missing").exists());
}

/// A38, R76: a command can't write the files that the next run's image is built from.
#[rstest]
fn what_an_image_is_built_from_stays(workspace: TempDir) {
    let root = workspace.path().canonicalize().unwrap();
    fs::write(root.join("Dockerfile"), "FROM x").unwrap();
    let mut opts = ExecOpts::in_workspace(&root);
    assert_eq!(mounts(&opts).len(), 1, "it is not built from");
    opts.image = Some("build".to_owned());
    let kept = mounts(&opts).pop().unwrap();
    assert_eq!((kept.target, kept.access), (root.join("Dockerfile"), Access::ReadOnly));
}

/// A38: a directory that is a mount can't be moved away with its contents.
#[rstest]
fn the_directories_of_a_kept_file_stay_too(workspace: TempDir) {
    let root = workspace.path().canonicalize().unwrap();
    fs::create_dir(root.join("sub/deeper")).unwrap();
    fs::write(root.join("sub/deeper/file"), "x").unwrap();
    let shown = |mode: WorkspaceMode| {
        let mut opts = ExecOpts::in_workspace(&root).with_workspace_mode(mode);
        opts.kept_files = vec!["sub/deeper/file".into()];
        let one = |mount: PlannedMount| (mount.target.strip_prefix(&root).unwrap().to_owned(), mount.access);
        mounts(&opts).into_iter().map(one).collect::<Vec<_>>()
    };
    let (rw, ro) = (Access::ReadWrite, Access::ReadOnly);
    let paths =
        |all: &[(&str, Access)]| all.iter().map(|(path, access)| (path.into(), *access)).collect::<Vec<_>>();
    assert_eq!(
        shown(WorkspaceMode::ReadWrite),
        paths(&[("", rw), ("sub", rw), ("sub/deeper", rw), ("sub/deeper/file", ro)])
    );
    let writable = vec!["sub".into()];
    assert_eq!(
        shown(WorkspaceMode::ReadOnly { writable }),
        paths(&[("", ro), ("sub", rw), ("sub/deeper", rw), ("sub/deeper/file", ro)])
    );
}

/// A38
#[rstest]
fn a_kept_file_is_not_writable_at_another_place(workspace: TempDir) {
    let mut opts = ExecOpts::in_workspace(workspace.path());
    opts.kept_files = vec!["file".into()];
    let again = MountSpec::read_write(workspace.path()).at("/again");
    assert!(refusal(&opts.with_mount(again)).contains("would be writable at `/again`"));
}

/// A2, R22: reading the host's programs is fine, changing them is not.
#[test]
fn the_hosts_programs_are_not_given_for_writing() {
    let usr = ExecOpts::in_workspace("/usr");
    assert!(refusal(&usr).contains("the host runs the programs in it"));
    let read_only = WorkspaceMode::ReadOnly { writable: Vec::new() };
    assert!(resolve(&usr.clone().with_workspace_mode(read_only)).is_ok());
    let in_it = WorkspaceMode::ReadOnly { writable: vec!["bin".into()] };
    assert!(refusal(&usr.with_workspace_mode(in_it)).contains("/usr/bin"));
}

/// A2, R22
#[rstest]
fn nor_mounted_for_writing(workspace: TempDir) {
    let opts = ExecOpts::in_workspace(workspace.path());
    let (read, write) = (MountSpec::read_only("/usr/lib"), MountSpec::read_write("/usr/lib"));
    assert!(resolve(&opts.clone().with_mount(read.at("/data"))).is_ok());
    assert!(refusal(&opts.with_mount(write.at("/data"))).contains("/usr/lib"));
}
