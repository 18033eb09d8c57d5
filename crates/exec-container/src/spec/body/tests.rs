//! Create requests as they are sent.

use std::collections::BTreeSet;

use exec_core::{Claim, Cmd, ExecOpts, MountSpec, OwnPlaces, Plan, User};
use exec_host::{HostView, SystemEntry};

use super::*;
use crate::Product;
use crate::engine::ImageFacts;
use crate::engine::dialect::Dialect;
use crate::host::facts::Ulimits;
use crate::spec::{Base, spec};

fn profile() -> EngineProfile {
    EngineProfile {
        product: Product::Docker,
        version: "20.10".into(),
        api: (1, 41),
        architecture: "x86_64".into(),
        rootless: false,
        remaps_users: false,
        same_kernel: false,
        filters_syscalls: true,
        syscall_filter: None,
        hides_submounts: true,
        limits: BTreeSet::from([Claim::MemoryLimit, Claim::PidsLimit, Claim::CpuLimit]),
        guards_labels: false,
        ulimits: None,
        monitors_in: None,
        caller: (1000, 1000),
        dialect: Dialect::of(Product::Docker),
    }
}

fn bind_placement() -> Placement {
    let file = |name: &str| format!("/home/ada/.cache/agentctl/{name}");
    Placement::Bind { source: file("exec-init"), hosts: file("hosts") }
}

fn view() -> HostView {
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
        secrets: vec!["/etc/shadow".into()],
        toolchains: vec!["/home/ada/.rustup".into()],
        credentials: vec!["/home/ada/.rustup/.netrc".into()],
        home: Some("/home/ada".into()),
    }
}

fn plan(opts: &ExecOpts) -> Plan {
    let mut plan = Plan::resolve(&Cmd::new("true"), opts, [], &OwnPlaces::default()).unwrap();
    plan.workspace_owner = (1000, 1000);
    plan
}

/// The request, with the name of the temporary workspace replaced.
fn sent(opts: &ExecOpts, base: Base<'_>, placement: &Placement, workspace: &std::path::Path) -> String {
    let spec = spec(&plan(opts), base, &profile()).unwrap();
    let fifo_channel =
        matches!(placement, Placement::Bind { .. }).then_some("/home/ada/.cache/agentctl/lanes/lane");
    let labels = HashMap::from([("dev.agentctl.owner".to_owned(), "o1".to_owned())]);
    let value = serde_json::to_value(body(&spec, placement, fifo_channel, &profile(), labels)).unwrap();
    let text = serde_json::to_string_pretty(&value).unwrap();
    text.replace(&*workspace.canonicalize().unwrap().to_string_lossy(), "/workspace")
}

/// R20, R40, R50, R70
#[test]
fn a_run_on_the_hosts_own_programs() {
    let dir = tempfile::tempdir().unwrap();
    let image = ImageFacts { id: "sha256:host".into(), ..ImageFacts::default() };
    let placement = bind_placement();
    let (image, view) = (&image, &view());
    let text = sent(&ExecOpts::in_workspace(dir.path()), Base::Host { image, view }, &placement, dir.path());
    insta::assert_snapshot!(text);
}

/// R22, R23, R30: an odd image decides nothing.
#[test]
fn a_run_in_an_image() {
    let dir = tempfile::tempdir().unwrap();
    let image = ImageFacts {
        id: "sha256:odd".into(),
        volumes: vec!["/data".into(), "/var/lib/odd".into()],
        checks_health: true,
        ..ImageFacts::default()
    };
    let placement = Placement::Volume { name: "agentctl-exec-init".into() };
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let opts = ExecOpts::in_workspace(dir.path())
        .with_mount(MountSpec::read_write("/usr/local/share").at("/data"))
        .with_network(Network::Bridge)
        .with_user(User::Id { uid: 7, gid: 8 });
    insta::assert_snapshot!(sent(
        &opts,
        Base::Image { name: "odd:1", image: &image },
        &placement,
        dir.path()
    ));
}

/// R30: no network is set up if none is wanted, but the loopback has a name.
#[test]
fn no_network_costs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let image = ImageFacts { id: "sha256:odd".into(), ..ImageFacts::default() };
    let base = Base::Image { name: "odd:1", image: &image };
    let body_of = |network, placement: &Placement| {
        let opts = ExecOpts::in_workspace(dir.path()).with_network(network);
        body(&spec(&plan(&opts), base, &profile()).unwrap(), placement, None, &profile(), HashMap::new())
    };
    let volume = Placement::Volume { name: "v".into() };
    assert_eq!(body_of(Network::None, &bind_placement()).network_disabled, Some(true));
    assert_eq!(body_of(Network::Bridge, &bind_placement()).network_disabled, None);
    assert_eq!(body_of(Network::None, &volume).network_disabled, None, "the engine has to write its hosts");
    let mounts = body_of(Network::None, &bind_placement()).host_config.unwrap().mounts.unwrap();
    assert!(mounts.iter().any(|mount| mount.target.as_deref() == Some("/etc/hosts")));
}

/// R43: none unless requested.
#[test]
fn graphics_processors_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let image = ImageFacts { id: "sha256:odd".into(), ..ImageFacts::default() };
    let requests = |gpus| {
        let mut opts = ExecOpts::in_workspace(dir.path());
        opts.gpus = gpus;
        let spec = spec(&plan(&opts), Base::Image { name: "odd:1", image: &image }, &profile()).unwrap();
        body(&spec, &bind_placement(), None, &profile(), HashMap::new()).host_config.unwrap().device_requests
    };
    assert_eq!(requests(None), None);
    let counts = |gpus| requests(Some(gpus)).unwrap().iter().map(|request| request.count).collect::<Vec<_>>();
    assert_eq!((counts(Gpus::All), counts(Gpus::Count(2))), (vec![Some(-1)], vec![Some(2)]));
}

fn podman() -> EngineProfile {
    EngineProfile {
        ulimits: Some(Ulimits { open_files: 20_000, processes: 32_768 }),
        syscall_filter: Some("/home/ada/.cache/agentctl/seccomp.json".into()),
        dialect: Dialect::of(Product::Podman),
        ..profile()
    }
}

/// R20, R24, R40, R50, R70: the same request for rootless Podman.
#[test]
fn a_run_on_the_hosts_own_programs_for_rootless_podman() {
    let dir = tempfile::tempdir().unwrap();
    let image = ImageFacts { id: "sha256:host".into(), ..ImageFacts::default() };
    let base = Base::Host { image: &image, view: &view() };
    let profile = EngineProfile { rootless: true, ..podman() };
    let spec = spec(&plan(&ExecOpts::in_workspace(dir.path())), base, &profile).unwrap();
    let value = serde_json::to_value(body(&spec, &bind_placement(), None, &profile, HashMap::new())).unwrap();
    let text = serde_json::to_string_pretty(&value).unwrap();
    insta::assert_snapshot!(
        text.replace(&*dir.path().canonicalize().unwrap().to_string_lossy(), "/workspace")
    );
}

/// A36: Podman would parse the rest of such a path as mount options.
#[test]
fn a_path_is_not_more_than_a_path() {
    let dir = tempfile::tempdir().unwrap();
    let image = ImageFacts { id: "sha256:odd".into(), ..ImageFacts::default() };
    let base = Base::Image { name: "odd:1", image: &image };
    for name in ["a,ro=false", "a:b", "a\"b", "a\nb"] {
        let workspace = dir.path().join(name);
        std::fs::create_dir(&workspace).unwrap();
        let plan = plan(&ExecOpts::in_workspace(&workspace));
        let error = spec(&plan, base, &podman()).unwrap_err();
        assert_eq!(error.kind(), exec_core::ErrorKind::InvalidInput, "{error}");
        assert!(!error.to_string().contains('\n') && error.remedy().is_some(), "{error}");
        assert!(spec(&plan, base, &profile()).is_ok(), "Docker takes {name:?} literally");
    }
}

/// R50: mounts are labelled only on hosts with `SELinux`; the machine's own programs never are.
#[test]
fn labels_are_for_hosts_with_selinux() {
    let dir = tempfile::tempdir().unwrap();
    let image = ImageFacts { id: "sha256:odd".into(), ..ImageFacts::default() };
    let plan = plan(&ExecOpts::in_workspace(dir.path()));
    let made = |guards_labels, base| {
        let profile = EngineProfile { guards_labels, ..podman() };
        body(&spec(&plan, base, &profile).unwrap(), &bind_placement(), None, &profile, HashMap::new())
            .host_config
            .unwrap()
    };
    let in_image = Base::Image { name: "odd:1", image: &image };
    assert_eq!(made(false, in_image).binds, None);
    let workspace = dir.path().canonicalize().unwrap().display().to_string();
    let binds = made(true, in_image).binds.unwrap();
    assert!(binds.contains(&format!("{workspace}:{workspace}:rw,z,rprivate,rbind")), "{binds:?}");
    let init = "/home/ada/.cache/agentctl/exec-init:/.agentctl/exec-init:ro,z,rprivate,bind";
    assert!(binds.iter().any(|bind| bind == init), "{binds:?}");
    let host = made(true, Base::Host { image: &image, view: &view() });
    assert_eq!(host.binds, None);
    assert!(host.security_opt.unwrap().iter().any(|option| option == "label=disable"));
}
