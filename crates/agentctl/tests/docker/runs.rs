//! Runs that end by themselves, or because somebody says so.

use std::os::unix::fs::MetadataExt;
use std::process::Command;

use anyhow::{Result, ensure};
use rustix::process::Signal;

use crate::support::{Marker, Place, Run};

pub(crate) const DOCKER: [&str; 2] = ["--sandbox", "docker"];

/// Whether there is an engine that answers us.
pub(crate) fn available() -> Result<(), String> {
    let output = Command::new("docker").args(["version", "--format", "{{.Server.Version}}"]).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("docker can't be run: {error}")),
    }
}

fn run(place: &Place, command: &[&str]) -> std::process::Output {
    place.output(["run"].iter().chain(&DOCKER).chain(&["--"]).chain(command))
}

/// R70: an engine without images, and nothing to configure.
pub(crate) async fn the_hosts_own_programs() -> Result<()> {
    let place = Place::new();
    let python = run(&place, &["python3", "-c", "print(6*7)"]);
    ensure!(python.stdout == b"42\n", "{}", String::from_utf8_lossy(&python.stderr));
    let (inside, outside) =
        (run(&place, &["git", "--version"]), Command::new("git").arg("--version").output()?);
    ensure!(inside.stdout == outside.stdout && !inside.stdout.is_empty(), "{inside:?}");
    // Where cargo is a program of a home directory, its toolchain is found there.
    let (inside, outside) =
        (run(&place, &["cargo", "--version"]), Command::new("cargo").arg("--version").output());
    if let Ok(outside) = outside {
        ensure!(inside.stdout == outside.stdout, "{inside:?}");
    }
    Ok(())
}

/// R4
pub(crate) async fn exit_codes_are_the_commands() -> Result<()> {
    let place = Place::new();
    for code in [0, 3, 125, 126, 127, 137, 143] {
        let ended = run(&place, &["sh", "-c", &format!("exit {code}")]);
        ensure!(ended.status.code() == Some(code), "{code}: {ended:?}");
    }
    ensure!(run(&place, &["no-such-program"]).status.code() == Some(127), "a missing program");
    let late =
        place.output(["run"].iter().chain(&DOCKER).chain(&["--timeout", "200ms", "--", "sleep", "60"]));
    ensure!(late.status.code() == Some(124), "{late:?}");
    Ok(())
}

/// R3
pub(crate) async fn the_object_says_what_held() -> Result<()> {
    let (object, code) = Place::new().json(&DOCKER, &["sh", "-c", "echo out; echo err >&2; exit 4"]);
    ensure!(code == Some(4) && object["exit_code"] == 4, "{object}");
    ensure!(object["stdout"] == "out\n" && object["stderr"] == "err\n", "{object}");
    ensure!(object["executor"] == "docker" && object["isolation"]["level"] == "container", "{object}");
    ensure!(
        object["isolation"]["image"] == "host" && object["isolation"]["degraded"] == serde_json::json!([]),
        "{object}"
    );
    Ok(())
}

/// R60, R62: asked for by name it is never replaced, and the way out is shown.
pub(crate) async fn an_engine_that_is_not_there() -> Result<()> {
    let place = Place::new();
    let mut command = place.agentctl(["run"].iter().chain(&DOCKER).chain(&["--", "echo", "ran"]));
    let output = command.env("DOCKER_HOST", "unix:///no/such/docker.sock").output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(125) && output.stdout.is_empty(), "{output:?}");
    ensure!(
        said.contains("/no/such/docker.sock") && said.contains("DOCKER_HOST") && said.contains("try: "),
        "{said}"
    );
    Ok(())
}

/// R12, R10
pub(crate) async fn an_interrupt_ends_everything() -> Result<()> {
    let place = Place::new();
    for signal in [Signal::INT, Signal::TERM] {
        let marker = Marker::new();
        let mut run = begun(&place, &marker);
        run.send(signal);
        ensure!(run.code() == Some(130), "{signal:?}");
        marker.assert_gone();
    }
    Ok(())
}

/// A run that has left a process behind and goes on.
pub(crate) fn begun(place: &Place, marker: &Marker) -> Run {
    let mut run = place.shell(&DOCKER, &format!("{}; echo up; exec sleep {marker}", marker.daemon()));
    run.expect_line("up");
    marker.assert_appears();
    run
}

/// R24
pub(crate) async fn files_belong_to_the_owner_of_the_workspace() -> Result<()> {
    let place = Place::new();
    exec_testkit::give_away(place.path(), 12_345, 12_346)?;
    ensure!(
        run(&place, &["sh", "-c", "echo x > made; echo y > $HOME/made"]).status.success(),
        "nothing was made"
    );
    let made = place.path().join("made").metadata()?;
    ensure!((made.uid(), made.gid()) == (12_345, 12_346), "{}:{}", made.uid(), made.gid());
    Ok(())
}

/// A38: what a command writes into its workspace loosens nothing, and a file that is there stays as it is.
pub(crate) async fn a_planted_configuration_has_no_effect() -> Result<()> {
    let place = Place::new();
    let planted = "env = ['TOKEN']\nworkspace_mode = 'ro'\n[executor.docker]\nnetwork = 'host'\n";
    let script = format!("cat > .agentctl.toml <<'EOF'\n{planted}EOF");
    ensure!(run(&place, &["sh", "-c", &script]).status.success(), "nothing was planted");
    ensure!(
        std::fs::read_to_string(place.path().join(".agentctl.toml"))? == planted,
        "something else was planted"
    );

    let look = "echo ${TOKEN-none}; readlink /proc/self/ns/net; touch x 2>/dev/null || echo ro; \
                echo y > .agentctl.toml || rm .agentctl.toml || mv .agentctl.toml y || echo kept";
    let seen = |rw: &[&str]| {
        let command = ["--", "sh", "-c", look];
        place.agentctl(["run"].iter().chain(&DOCKER).chain(rw).chain(&command)).env("TOKEN", "t").output()
    };
    let ours = std::fs::read_link("/proc/self/ns/net")?.display().to_string();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let output = seen(&[])?;
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    ensure!(out.starts_with("none\n") && !out.contains(&ours), "it loosens: {out}{said}");
    ensure!(out.ends_with("ro\nkept\n"), "what tightens counts: {out}{said}");
    ensure!(said.contains("env (line 1), executor.docker.network (line 4)"), "{said}");
    let writable = text(&seen(&["--workspace-mode", "rw"])?.stdout);
    ensure!(!writable.contains("ro\n") && writable.ends_with("kept\n"), "{writable}");

    ensure!(place.output(["config", "trust"]).status.success(), "it can't be trusted");
    let trusted = text(&seen(&[])?.stdout);
    ensure!(trusted.starts_with(&format!("t\n{ours}\n")), "the positive control: {trusted}");
    Ok(())
}
