//! A workspace that a command has filled with everything that can be wrong, and the properties that must hold
//! when the host side works on it.

mod decoy;
mod fill;
mod names;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

pub(crate) use decoy::Decoy;
pub(crate) use fill::{Kind, Layout, fill};
pub(crate) use names::names_in_the_source;

use super::{Place, eventually};

/// Each of our commands answers within this time, on a busy machine too; a hanging one takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A builder may take longer, whatever it builds.
const BUILD_LIMIT: Duration = Duration::from_secs(240);

/// Runs an `agentctl` command to its end, with this input, and checks the properties that must always hold.
pub(crate) fn answers(place: &Place, decoy: &Decoy, args: &[&str], input: &str) -> Output {
    let mut command = place.agentctl(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Files that the engine's own program keeps for its user are not ours; without root, Podman's containers
    // are in the home too.
    command.env("DOCKER_CONFIG", place.user());
    if rustix::process::geteuid().is_root() {
        command.env("HOME", decoy.home());
    }
    let limit = if args.contains(&"build") { BUILD_LIMIT } else { LIMIT };
    let output = bounded(&mut command, input, limit).unwrap_or_else(|| panic!("{args:?} does not answer"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_some(), "{args:?} was killed by {:?}: {said}", output.status);
    assert!(!said.contains("overflowed its stack") && !said.contains("panicked"), "{args:?}: {said}");
    let raw = |byte: &u8| *byte < b' ' && !b"\n\t\r".contains(byte);
    assert!(!output.stderr.iter().any(raw), "{args:?} prints raw control bytes: {said:?}");
    decoy.assert_unchanged(args);
    output
}

fn bounded(command: &mut Command, input: &str, limit: Duration) -> Option<Output> {
    use std::io::Write;
    let mut child = command.spawn().unwrap();
    // A command that reads nothing has closed its end.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = |stream: &mut dyn std::io::Read| {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let (out, err) =
        (std::thread::spawn(move || reader(&mut stdout)), std::thread::spawn(move || reader(&mut stderr)));
    let mut status = None;
    let ended = eventually(limit, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    if !ended {
        child.kill().unwrap();
        child.wait().unwrap();
        return None;
    }
    Some(Output { status: status?, stdout: out.join().unwrap(), stderr: err.join().unwrap() })
}

/// The commands of the host side that a workspace can affect, for each layout those that the layout does not
/// hide. `sandbox` selects where their runs take place, and `build` whether one of them builds an image.
pub(crate) fn commands<'a>(layout: Layout, sandbox: &[&'a str], build: Build) -> Vec<Vec<&'a str>> {
    const RUNS: [&[&str]; 6] = [
        &[],
        &["--workspace-mode", "ro", "--write-path", "Dockerfile"],
        &["--cwd", "src"],
        &["--mount", "Makefile:/data"],
        &["--config", "Cargo.toml"],
        &["--log", "worker"],
    ];
    const BUILD: &[&str] = &["--image", "build"];
    const ANYWHERE: [&[&str]; 10] = [
        &["config", "show"],
        &["config", "check"],
        &["config", "trust"],
        &["config", "init"],
        &["config", "init", "--force"],
        &["workshop", "check", "workshop.yaml"],
        &["workshop", "run", "workshop.yaml", "x", "--", "true"],
        &["ps"],
        &["health"],
        &["gc"],
    ];
    const BOOTSTRAP: [&[&str]; 5] = [
        &["bootstrap-docker", "--explain"],
        &["bootstrap-docker", "--check"],
        &["bootstrap-docker"],
        &["bootstrap-docker", "--force"],
        &["bootstrap-docker", "--compose", "--force"],
    ];
    let run = |options: &&[&'a str]| -> Vec<&'a str> {
        ["run"].iter().chain(sandbox).chain(*options).chain(&["--", "true"]).copied().collect()
    };
    let for_build = (build == Build::Yes).then_some(&BUILD);
    let plain =
        |args: &[&[&'a str]]| -> Vec<Vec<&'a str>> { args.iter().map(|args| args.to_vec()).collect() };
    match layout {
        Layout::All => [vec![run(&RUNS[0])], plain(&ANYWHERE)].concat(),
        Layout::WithoutConfiguration => RUNS[..2].iter().map(run).collect(),
        Layout::WithoutRepository => RUNS.iter().chain(for_build).map(run).chain(plain(&BOOTSTRAP)).collect(),
        Layout::Nested => RUNS[..1].iter().chain(for_build).map(run).chain(plain(&BOOTSTRAP)).collect(),
        Layout::BuildContext => for_build.into_iter().map(run).collect(),
    }
}

/// Whether an image is built too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    Yes,
    No,
}

/// The messages of an MCP client that saves a command's output under this name.
pub(crate) fn save_output_to(name: &str) -> String {
    let call = serde_json::json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "run_command", "arguments": {"command": "echo saved", "save_output": name}}});
    let hello = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "case", "version": "1"}}});
    let ready = serde_json::json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    format!("{hello}\n{ready}\n{call}\n")
}

/// The program's source: beside the tests, or where a run as another user has copied it.
fn source() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::var_os("EXEC_TEST_SOURCE").map_or(beside, PathBuf::from)
}
