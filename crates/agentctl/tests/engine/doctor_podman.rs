//! `agentctl doctor` on machines with Podman.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Result, bail, ensure};
use exec_testkit::{EngineTest, Skip, engine_test};

use crate::doctor::{NOWHERE, doctor, ensure_well, of, report};
use crate::engines::{DOCKER, PODMAN};
use crate::support::{LOCAL, Place};

pub(crate) const ALL: [EngineTest; 3] = [
    engine_test!(podman_only, "R65"),
    engine_test!(both_engines, "R65 R62"),
    engine_test!(nothing_is_left, "R65 R15"),
];

/// R65, R62: it takes Docker's place, and the report shows how to get Docker.
async fn podman_only() -> Result<()> {
    let output = doctor(&Place::new(), &["--json"], &[("DOCKER_HOST", NOWHERE)]);
    let found = report(&output)?;
    ensure!(output.status.success(), "{found}");
    ensure!(found["chosen"]["name"] == "podman" && found["chosen"]["fallback"] == true, "{found}");
    ensure_well(of(&found, "podman")?)?;
    ensure!(of(&found, "docker")?["state"] == "missing", "{found}");
    Ok(())
}

/// R65, R62
async fn both_engines() -> Result<()> {
    if let Err(why) = DOCKER.available() {
        bail!(Skip(why));
    }
    let output = doctor(&Place::new(), &["--json"], &[]);
    let found = report(&output)?;
    ensure!(output.status.success(), "{found}");
    ensure!(found["chosen"]["name"] == "docker" && found["chosen"]["fallback"] == false, "{found}");
    ensure_well(of(&found, "docker")?)?;
    ensure_well(of(&found, "podman")?)
}

/// R15: even on a busy machine, every sandbox that `doctor` tried is gone when it ends, with everything made
/// for it. `cargo xtask soak` tries this a hundred times.
async fn nothing_is_left() -> Result<()> {
    let times = if std::env::var_os("EXEC_TEST_SOAK").is_some() { 100 } else { 3 };
    let _work = [Busy::new()?, Busy::new()?];
    let place = Place::new();
    for number in 1..=times {
        let mut doctor = place.agentctl(["doctor"]).env_remove(LOCAL.0).stdout(Stdio::null()).spawn()?;
        ensure!(doctor.wait()?.success(), "time {number}");
        let health = place.output(["health", "--json"]);
        let health: serde_json::Value = serde_json::from_slice(&health.stdout)?;
        ensure!(health["state"] == "stopped", "time {number}: {health}");
        let left = left_of(&place, doctor.id())?;
        ensure!(left.is_empty(), "time {number}: {left:?}");
    }
    Ok(())
}

/// Records, containers, sockets and processes, by name.
fn left_of(place: &Place, pid: u32) -> Result<Vec<String>> {
    let mut left: Vec<String> =
        ["cells", "runs", "ends"].iter().flat_map(|kind| place.records(kind)).collect();
    let state = place.state();
    for engine in [DOCKER, PODMAN].iter().filter(|engine| engine.available().is_ok()) {
        let filter = format!("label=dev.agentctl.state={}", state.display());
        let shown = ["ps", "--all", "--filter", &filter, "--format", "{{.Names}}"];
        let listed = Command::new(engine.name).args(shown).output()?;
        left.extend(String::from_utf8(listed.stdout)?.lines().map(str::to_owned));
    }
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(|| "/run".into(), PathBuf::from);
    for sockets in [runtime, "/run".into()].map(|base| base.join("agentctl")) {
        let entries = std::fs::read_dir(sockets).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        left.extend(names.filter(|name| name.starts_with(&format!("podman-{pid}-"))));
    }
    // Every process that a run of ours starts outside a sandbox has this in its environment.
    let variable = format!("AGENTCTL_STATE_DIR={}", state.display());
    for process in std::fs::read_dir("/proc")?.flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes()) {
            let command_line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            left.push(format!(
                "{} {}",
                process.file_name().display(),
                String::from_utf8_lossy(&command_line)
            ));
        }
    }
    Ok(left)
}

/// A process that keeps a processor busy.
struct Busy(Child);

impl Busy {
    fn new() -> Result<Self> {
        Ok(Self(Command::new("sh").args(["-c", "while :; do :; done"]).spawn()?))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
