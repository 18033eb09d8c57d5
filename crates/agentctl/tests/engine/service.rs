//! The Podman service that `agentctl` starts if the machine has none: private, and gone with `agentctl`.

use std::fs;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use exec_testkit::{EngineTest, Skip, engine_test};
use rustix::process::Signal;

use crate::ENGINE;
use crate::private::Private;
use crate::runs::begun;
use crate::sample::{OLD, OURS, Sample, load};
use crate::support::{Marker, Place, eventually};

pub(crate) const ALL: [EngineTest; 7] = [
    engine_test!(it_ends_with_a_run, "R11 R15"),
    engine_test!(it_ends_when_agentctl_is_killed, "R11 R15 F1"),
    engine_test!(the_assumed_abilities_are_those_it_reports, "R41 R60"),
    engine_test!(cleaning_up_starts_a_service_too, "R15 R76"),
    engine_test!(without_podman_nothing_happens, "R15 R76"),
    engine_test!(a_podman_in_the_workspace_is_not_run, "A32"),
    engine_test!(a_users_own_service_must_not_work_in_the_workspace, "A42"),
];

/// It serves until the helper has cleaned up, and that may take a moment.
const SERVICES: Duration = Duration::from_secs(20);

/// Command lines of the services that this process started, by their socket.
fn services_of(pid: u32) -> Vec<String> {
    let socket = format!("/podman-{pid}-");
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    lines.map(|line| line.replace('\0', " ")).filter(|line| line.contains(&socket)).collect()
}

fn socket_of(pid: u32) -> String {
    let service = services_of(pid).remove(0);
    service.trim().rsplit("unix://").next().unwrap_or_default().to_owned()
}

fn assert_none_left(pid: u32) {
    assert!(eventually(SERVICES, || services_of(pid).is_empty()), "{:?}", services_of(pid));
}

/// A run with its own service, if the machine has no service for everyone.
fn with_service(place: &Place, marker: &Marker) -> Result<crate::support::Run> {
    let run = begun(place, marker);
    if services_of(run.pid()).is_empty() {
        bail!(Skip("a service of the machine's answers, so none is started".into()));
    }
    Ok(run)
}

/// R11, R15
async fn it_ends_with_a_run() -> Result<()> {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = with_service(&place, &marker)?;
    run.send(Signal::TERM);
    ensure!(run.code() == Some(130), "it was cancelled");
    marker.assert_gone();
    assert_none_left(run.pid());
    Ok(())
}

/// R11, R15, F1: first the helper ends, then the service; their socket is removed too.
async fn it_ends_when_agentctl_is_killed() -> Result<()> {
    let place = Place::new();
    for _ in 0..3 {
        let marker = Marker::new();
        let mut run = with_service(&place, &marker)?;
        let socket = socket_of(run.pid());
        ensure!(fs::exists(&socket)?, "the control: {socket} should be there");
        run.send(Signal::KILL);
        run.wait();
        assert_none_left(run.pid());
        ensure!(!fs::exists(&socket)?, "{socket} is left");
    }
    Ok(())
}

/// R41, R60: our own service is not asked for its abilities, because that takes long. An executor that finds
/// a service by its address does ask, and gets the same walls.
async fn the_assumed_abilities_are_those_it_reports() -> Result<()> {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = with_service(&place, &marker)?;
    let address = format!("unix://{}", socket_of(run.pid()));
    let isolation = |address: Option<&str>| -> Result<serde_json::Value> {
        let sandbox = ENGINE.sandbox();
        let args = ["run", "--json"].iter().chain(&sandbox).chain(&["--", "true"]);
        let mut command = place.agentctl(args);
        let output = command.envs(address.map(|address| (ENGINE.host, address))).output()?;
        let object: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        ensure!(object["isolation"]["level"] == "container", "{object}");
        Ok(object["isolation"].clone())
    };
    let (known, said) = (isolation(None)?, isolation(Some(&address))?);
    ensure!(known == said, "{known} is not {said}");
    run.send(Signal::TERM);
    run.wait();
    Ok(())
}

/// R15, R76: `gc` and `images` work without a service of the machine, leave none behind, and contact no
/// Docker engine in its place.
async fn cleaning_up_starts_a_service_too() -> Result<()> {
    let (engine, place) = (Private::start()?, Place::new());
    load(&engine, &[Sample { names: &["agentctl/project:sample"], created: OLD, labels: &[OURS] }])?;
    let docker = std::os::unix::net::UnixListener::bind(place.path().join("d.sock"))?;
    docker.set_nonblocking(true)?;
    let address = format!("unix://{}", place.path().join("d.sock").display());
    let args = ["images", "ls", "--sandbox", ENGINE.name];
    let mut command = engine.agentctl(&place, &args);
    let child = command.env(ENGINE.other_host, address).stdout(std::process::Stdio::piped()).spawn()?;
    let pid = child.id();
    let listed = String::from_utf8(child.wait_with_output()?.stdout)?;
    ensure!(listed.contains("agentctl/project:sample"), "{listed}");
    assert_none_left(pid);
    ensure!(docker.accept().is_err(), "Docker was contacted");

    let volume = ["volume", "create", "--label", "dev.agentctl.owner=x", "half"];
    engine.tell(&volume)?;
    let child = engine.agentctl(&place, &["gc"]).stderr(std::process::Stdio::piped()).spawn()?;
    let pid = child.id();
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{output:?}");
    assert_none_left(pid);
    ensure!(engine.tell(&["volume", "ls", "--quiet"])? == "half", "a stranger's volume is gone");
    Ok(())
}

/// R15, R76: cleaning up works without Podman; listing its images reports that it is missing.
async fn without_podman_nothing_happens() -> Result<()> {
    let (engine, place) = (Private::start()?, Place::new());
    let without = |args: &[&str]| engine.agentctl(&place, args).env("PATH", place.path()).output();
    let output = without(&["gc"])?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && text.contains("nothing to clean up"), "{text}");
    let output = without(&["images", "ls", "--sandbox", ENGINE.name])?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(125) && text.contains("install"), "{text}");
    Ok(())
}

/// A32: neither in the working directory nor on a relative part of the search path.
async fn a_podman_in_the_workspace_is_not_run() -> Result<()> {
    let place = Place::new();
    let planted = place.path().join("podman");
    fs::write(&planted, "#!/bin/sh\ntouch planted-ran\n")?;
    fs::set_permissions(&planted, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let path = std::env::var("PATH")?;
    let mut command = place.agentctl(["run"].iter().chain(&ENGINE.sandbox()).chain(&["--", "echo", "ran"]));
    let output = command.env("PATH", format!(".:{path}")).output()?;
    ensure!(output.stdout == b"ran\n", "{output:?}");
    ensure!(!place.path().join("planted-ran").exists(), "the planted one was run");
    Ok(())
}

/// A service that its user started here; ended with this value.
struct Own {
    child: std::process::Child,
    address: String,
    _sockets: tempfile::TempDir,
}

impl Own {
    fn start_in(directory: &std::path::Path) -> Result<Self> {
        let sockets = tempfile::tempdir()?;
        let socket = sockets.path().join("own.sock");
        let address = format!("unix://{}", socket.display());
        let runtime =
            ["--runtime", "runc", "--cgroup-manager", "cgroupfs", "system", "service", "--time", "0"];
        let mut command = std::process::Command::new(ENGINE.name);
        let child = command.args(runtime).arg(&address).current_dir(directory).spawn()?;
        let own = Self { child, address, _sockets: sockets };
        ensure!(
            eventually(SERVICES, || std::os::unix::net::UnixStream::connect(&socket).is_ok()),
            "it does not listen"
        );
        Ok(own)
    }

    fn run(&self, place: &Place) -> Result<std::process::Output> {
        let sandbox = ENGINE.sandbox();
        let args = ["run"].iter().chain(&sandbox).chain(&["--", "echo", "ran"]);
        Ok(place.agentctl(args).env(ENGINE.host, &self.address).output()?)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

/// A42: its monitors would work there too, and create files through links that commands left.
async fn a_users_own_service_must_not_work_in_the_workspace() -> Result<()> {
    let (place, elsewhere) = (Place::new(), tempfile::tempdir()?);
    let below = place.path().join("below");
    fs::create_dir(&below)?;
    for directory in [place.path(), &below] {
        let output = Own::start_in(directory)?.run(&place)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(125) && output.stdout.is_empty(), "{output:?}");
        ensure!(said.contains("was started in") && said.contains("podman system service"), "{said}");
    }
    let output = Own::start_in(elsewhere.path())?.run(&place)?;
    ensure!(output.stdout == b"ran\n", "the control: {output:?}");
    Ok(())
}
