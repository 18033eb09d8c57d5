//! `agentctl doctor` on machines with Podman.

use anyhow::{Result, bail, ensure};
use exec_testkit::{EngineTest, Skip, engine_test};

use crate::doctor::{NOWHERE, doctor, ensure_well, of, report};
use crate::engines::DOCKER;
use crate::support::Place;

pub(crate) const ALL: [EngineTest; 2] =
    [engine_test!(podman_only, "R65"), engine_test!(both_engines, "R65 R62")];

/// R65, R62: it takes Docker's place, and the fix for what is missing is shown.
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
