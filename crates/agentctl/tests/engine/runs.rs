//! Runs that end by themselves or are stopped.

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::UnixListener;
use std::process::Command;

use anyhow::{Result, ensure};
use rustix::process::{Signal, getegid, geteuid};

use crate::ENGINE;
use crate::support::{
    Marker, Place, Run, assert_a_gibibyte_passes_in_bounded_memory, assert_secrets_are_masked,
};

fn run(place: &Place, command: &[&str]) -> std::process::Output {
    place.output(["run"].iter().chain(&ENGINE.sandbox()).chain(&["--"]).chain(command))
}

/// R70: an engine without images, and nothing to configure.
pub(crate) async fn the_hosts_own_programs() -> Result<()> {
    let place = Place::new();
    let python = run(&place, &["python3", "-c", "print(6*7)"]);
    ensure!(python.stdout == b"42\n", "{}", String::from_utf8_lossy(&python.stderr));
    let (inside, outside) =
        (run(&place, &["git", "--version"]), Command::new("git").arg("--version").output()?);
    ensure!(inside.stdout == outside.stdout && !inside.stdout.is_empty(), "{inside:?}");
    // If cargo is in a home directory, its toolchain is found there.
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
    let late = place.output(["run"].iter().chain(&ENGINE.sandbox()).chain(&[
        "--timeout",
        "200ms",
        "--",
        "sleep",
        "60",
    ]));
    ensure!(late.status.code() == Some(124), "{late:?}");
    Ok(())
}

/// R3
pub(crate) async fn the_object_reports_the_isolation() -> Result<()> {
    let (object, code) =
        Place::new().json(&ENGINE.sandbox(), &["sh", "-c", "echo out; echo err >&2; exit 4"]);
    ensure!(code == Some(4) && object["exit_code"] == 4, "{object}");
    ensure!(object["stdout"] == "out\n" && object["stderr"] == "err\n", "{object}");
    ensure!(object["executor"] == ENGINE.name && object["isolation"]["level"] == "container", "{object}");
    ensure!(object["isolation"]["image"] == "host", "{object}");
    // An ordinary user may be unable to set every limit, and the result reports so.
    if geteuid().is_root() {
        ensure!(object["isolation"]["degraded"] == serde_json::json!([]), "{object}");
    }
    Ok(())
}

/// R60, R62: an engine requested by name is never replaced, and the error names the fix.
pub(crate) async fn a_missing_engine() -> Result<()> {
    let place = Place::new();
    let mut command = place.agentctl(["run"].iter().chain(&ENGINE.sandbox()).chain(&["--", "echo", "ran"]));
    let output = command.env(ENGINE.host, "unix:///no/such/engine.sock").output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(125) && output.stdout.is_empty(), "{output:?}");
    ensure!(
        said.contains("/no/such/engine.sock") && said.contains(ENGINE.host) && said.contains("try: "),
        "{said}"
    );
    Ok(())
}

/// R60: with a wrong address for the other engine, this one works, and only this one is contacted.
pub(crate) async fn the_other_engine_is_never_contacted() -> Result<()> {
    let place = Place::new();
    let run = |variable: &str, address: &str| {
        let mut command =
            place.agentctl(["run"].iter().chain(&ENGINE.sandbox()).chain(&["--", "echo", "ran"]));
        command.env(variable, address).output()
    };
    let alone = run(ENGINE.other_host, "unix:///no/such/engine.sock")?;
    ensure!(alone.stdout == b"ran\n", "{alone:?}");
    let elsewhere = tempfile::tempdir()?;
    let socket = elsewhere.path().join("other.sock");
    let other = UnixListener::bind(&socket)?;
    other.set_nonblocking(true)?;
    let address = format!("unix://{}", socket.display());
    ensure!(run(ENGINE.other_host, &address)?.stdout == b"ran\n", "beside another");
    ensure!(other.accept().is_err(), "the other engine was contacted");
    Ok(())
}

/// R60, R62: an engine of the other make at this one's address is refused, and the error names it.
pub(crate) async fn the_other_engine_in_its_place_is_refused() -> Result<()> {
    let place = Place::new();
    let elsewhere = tempfile::tempdir()?;
    let socket = elsewhere.path().join("engine.sock");
    let listener = UnixListener::bind(&socket)?;
    let answer = ENGINE.greeting_of_the_other;
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut question = [0; 4096];
            // The answer to every request is the same.
            let _ = stream.read(&mut question).and_then(|_| stream.write_all(answer.as_bytes()));
        }
    });
    let mut command = place.agentctl(["run"].iter().chain(&ENGINE.sandbox()).chain(&["--", "echo", "ran"]));
    let output = command.env(ENGINE.host, format!("unix://{}", socket.display())).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(125) && output.stdout.is_empty(), "{output:?}");
    ensure!(said.contains("that answers, not") && said.contains(ENGINE.other_sandbox), "{said}");
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

/// A run that has left a process behind and keeps running.
pub(crate) fn begun(place: &Place, marker: &Marker) -> Run {
    let mut run =
        place.shell(&ENGINE.sandbox(), &format!("{}; echo up; exec sleep {marker}", marker.daemon()));
    run.expect_line("up");
    marker.assert_appears();
    run
}

/// A31
pub(crate) async fn a_gibibyte_passes_in_bounded_memory() -> Result<()> {
    assert_a_gibibyte_passes_in_bounded_memory(&ENGINE.sandbox());
    Ok(())
}

/// A49
pub(crate) async fn secrets_in_shown_directories_are_masked() -> Result<()> {
    assert_secrets_are_masked(&ENGINE.sandbox());
    Ok(())
}

/// R24: files belong to the owner of the workspace; for an ordinary user that is the caller.
pub(crate) async fn files_belong_to_the_owner_of_the_workspace() -> Result<()> {
    let place = Place::new();
    let mut owner = (geteuid().as_raw(), getegid().as_raw());
    if geteuid().is_root() {
        owner = (12_345, 12_346);
        chown(place.path(), Some(owner.0), Some(owner.1))?;
    }
    ensure!(
        run(&place, &["sh", "-c", "echo x > made; echo y > $HOME/made"]).status.success(),
        "nothing was made"
    );
    let made = place.path().join("made").metadata()?;
    ensure!((made.uid(), made.gid()) == owner, "{}:{}", made.uid(), made.gid());
    Ok(())
}

/// A38: files that a command writes into its workspace loosen nothing, and an existing file stays unchanged.
pub(crate) async fn a_planted_configuration_has_no_effect() -> Result<()> {
    let place = Place::new();
    let name = ENGINE.name;
    let planted = format!("env = ['TOKEN']\nworkspace_mode = 'ro'\n[executor.{name}]\nnetwork = 'host'\n");
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
        place
            .agentctl(["run"].iter().chain(&ENGINE.sandbox()).chain(rw).chain(&command))
            .env("TOKEN", "t")
            .output()
    };
    let ours = std::fs::read_link("/proc/self/ns/net")?.display().to_string();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let output = seen(&[])?;
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    ensure!(out.starts_with("none\n") && !out.contains(&ours), "it loosens: {out}{said}");
    ensure!(out.ends_with("ro\nkept\n"), "a tighter setting counts: {out}{said}");
    ensure!(said.contains(&format!("env (line 1), executor.{name}.network (line 4)")), "{said}");
    let writable = text(&seen(&["--workspace-mode", "rw"])?.stdout);
    ensure!(!writable.contains("ro\n") && writable.ends_with("kept\n"), "{writable}");

    ensure!(place.output(["config", "trust"]).status.success(), "it can't be trusted");
    let trusted = text(&seen(&[])?.stdout);
    ensure!(trusted.starts_with(&format!("t\n{ours}\n")), "the positive control: {trusted}");
    Ok(())
}

/// A40: records, the audit log and PID 1.
pub(crate) async fn own_places_stay_out_of_reach() -> Result<()> {
    let place = Place::new();
    let inside = place.path().join("ours").display().to_string();
    let run = || place.agentctl(["run"].iter().chain(&ENGINE.sandbox()).chain(&["--", "echo", "ran"]));
    for variable in ["AGENTCTL_STATE_DIR", "AGENTCTL_AUDIT_FILE", "XDG_CACHE_HOME"] {
        let output = run().env(variable, &inside).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(125) && output.stdout.is_empty(), "{variable}: {output:?}");
        ensure!(said.contains("a command would reach"), "{variable}: {said}");
    }
    ensure!(run().output()?.stdout == b"ran\n", "the control");
    Ok(())
}
