//! `agentctl doctor` on machines of all kinds, as far as this one can imitate them.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use exec_testkit::{EngineTest, Skip, engine_test};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{LOCAL, Place, program};

/// A place without an engine.
pub(crate) const NOWHERE: &str = "unix:///no/such/engine.sock";

const STRANGER: u32 = 4242;

pub(crate) const ALL: [EngineTest; 4] = [
    engine_test!(docker_only, "R65"),
    engine_test!(no_engine, "R65"),
    engine_test!(a_socket_of_another_user, "R65 R60"),
    engine_test!(inside_a_container, "R65"),
];

pub(crate) fn doctor(place: &Place, options: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = place.agentctl(["doctor"].iter().chain(options));
    command.env_remove(LOCAL.0).envs(env.iter().copied()).output().unwrap()
}

pub(crate) fn report(output: &Output) -> Result<Value> {
    serde_json::from_slice(&output.stdout).with_context(|| format!("{output:?}"))
}

/// One sandbox of a report.
pub(crate) fn of<'a>(report: &'a Value, name: &str) -> Result<&'a Value> {
    let sandboxes = report["sandboxes"].as_array().context("no sandboxes")?;
    sandboxes.iter().find(|sandbox| sandbox["name"] == name).with_context(|| format!("no {name} in {report}"))
}

pub(crate) fn says(value: &Value, words: &str) -> bool {
    value.as_str().is_some_and(|text| text.contains(words))
}

/// Every check passes; an ordinary user may be unable to set every limit.
pub(crate) fn ensure_well(sandbox: &Value) -> Result<()> {
    let checks = sandbox["checks"].as_array().with_context(|| format!("{sandbox}"))?;
    let holds = |check: &Value| {
        check["verdict"] == "holds"
            || (check["name"] == "limits"
                && check["verdict"] == "weak"
                && !rustix::process::geteuid().is_root())
    };
    ensure!(checks.len() == 6 && checks.iter().all(holds), "{sandbox}");
    Ok(())
}

/// R65: the text reports the same.
async fn docker_only() -> Result<()> {
    let (place, env) = (Place::new(), [("CONTAINER_HOST", NOWHERE)]);
    let output = doctor(&place, &["--json"], &env);
    let found = report(&output)?;
    ensure!(output.status.success(), "{found}");
    ensure!(found["chosen"]["name"] == "docker" && found["chosen"]["fallback"] == false, "{found}");
    ensure_well(of(&found, "docker")?)?;
    ensure!(of(&found, "podman")?["state"] == "missing", "{found}");
    let output = doctor(&place, &[], &env);
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(text.contains("docker: works (isolation container, Docker "), "{text}");
    ensure!(text.ends_with("`agentctl run` takes docker, which works.\n"), "{text}");
    Ok(())
}

/// R65: a fallback works too; a sandbox requested by name does not.
async fn no_engine() -> Result<()> {
    let (place, env) = (Place::new(), [("DOCKER_HOST", NOWHERE), ("CONTAINER_HOST", NOWHERE)]);
    let output = doctor(&place, &["--json"], &env);
    let found = report(&output)?;
    ensure!(output.status.success(), "{found}");
    ensure!(found["chosen"]["name"] == "local" && found["chosen"]["fallback"] == true, "{found}");
    let docker = of(&found, "docker")?;
    ensure!(docker["state"] == "missing" && says(&docker["fix"], "DOCKER_HOST"), "{docker}");
    for options in [["--json", "--sandbox", "docker"].as_slice(), &["--json", "--no-fallback"]] {
        let output = doctor(&place, options, &env);
        let refused = report(&output)?;
        ensure!(output.status.code() == Some(1), "{refused}");
        let chosen = &refused["chosen"];
        ensure!(chosen["outcome"] == "nothing" && says(&chosen["fix"], "DOCKER_HOST"), "{refused}");
    }
    Ok(())
}

/// R65, R60: an engine that exists, but refuses this user.
async fn a_socket_of_another_user() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        bail!(Skip("only root can become another user".into()));
    }
    let (programs, dir) = (program_for_all()?, tempfile::tempdir()?);
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755))?;
    let socket = dir.path().join("docker.sock");
    let _engine = UnixListener::bind(&socket)?;
    std::fs::set_permissions(&socket, PermissionsExt::from_mode(0o660))?;
    let mut command = Command::new(programs.path().join("agentctl"));
    command.args(["doctor", "--json", "--sandbox", "docker"]).current_dir(dir.path());
    command.env("DOCKER_HOST", format!("unix://{}", socket.display())).env("CONTAINER_HOST", NOWHERE);
    let output = command.env("HOME", "/nonexistent").uid(STRANGER).gid(STRANGER).output()?;
    let found = report(&output)?;
    ensure!(output.status.code() == Some(1), "{found}");
    let docker = of(&found, "docker")?;
    ensure!(says(&docker["reason"], "this user may not use the Docker engine"), "{docker}");
    ensure!(says(&docker["fix"], "dockerd-rootless-setuptool.sh install"), "{docker}");
    Ok(())
}

/// R65: in a container without its own engine and without the right to make namespaces.
async fn inside_a_container() -> Result<()> {
    let (place, programs) = (Place::new(), program_for_all()?);
    let mount = programs.path().to_str().context("path")?;
    let inside = format!("{mount}/agentctl");
    let options = ["run", "--sandbox", "docker", "--mount", mount, "--", &inside, "doctor", "--json"];
    let output = place.agentctl(options).env_remove(LOCAL.0).output()?;
    let found = report(&output)?;
    ensure!(output.status.success(), "{found}");
    ensure!(found["host"]["container"] == "/.dockerenv", "{found}");
    ensure!(found["chosen"]["name"] == "local" && found["chosen"]["fallback"] == true, "{found}");
    let docker = of(&found, "docker")?;
    ensure!(docker["state"] == "missing", "{docker}");
    ensure!(says(&docker["fix"], "the engine's socket and the workspace mounted"), "{docker}");
    let cell = &of(&found, "local")?["checks"][0];
    ensure!(cell["verdict"] == "weak" && says(&cell["fix"], "seccomp=unconfined"), "{cell}");
    Ok(())
}

/// A directory with the program, where every user can run it.
fn program_for_all() -> Result<TempDir> {
    let dir = tempfile::tempdir()?;
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755))?;
    std::fs::copy(program(), dir.path().join("agentctl"))?;
    Ok(dir)
}
