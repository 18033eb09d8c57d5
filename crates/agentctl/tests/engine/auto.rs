//! `auto` on a machine with Docker.

use anyhow::{Result, ensure};
use exec_testkit::{EngineTest, engine_test};

use crate::support::{LOCAL, Place, Pty};

pub(crate) const ALL: [EngineTest; 5] = [
    engine_test!(docker_is_taken, "R62 R3"),
    engine_test!(the_banner_names_docker, "R64"),
    engine_test!(a_workers_log_reports_enabled, "R64"),
    engine_test!(an_image_that_cannot_be_had, "R62"),
    engine_test!(enable_docker_is_false, "R63 R64"),
];

fn auto(place: &Place, options: &[&str]) -> std::process::Output {
    let args = ["run"].iter().chain(options).chain(&["--", "id", "-u"]);
    place.agentctl(args).env_remove(LOCAL.0).output().unwrap()
}

/// R62, R3: Docker is the first choice, and the object lists no rejected sandbox.
async fn docker_is_taken() -> Result<()> {
    let output = auto(&Place::new(), &["--json"]);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    ensure!(object["executor"] == "docker" && object["isolation"]["level"] == "container", "{object}");
    let selection = serde_json::json!({
        "requested": "auto", "chosen": "docker", "passed_over": [], "overruled": null
    });
    ensure!(object["selection"] == selection, "{object}");
    Ok(())
}

/// R64: one line on a terminal, only the command's own output elsewhere, everything on request.
async fn the_banner_names_docker() -> Result<()> {
    let mut pty = Pty::start(&["run", "--sandbox", "auto", "--", "id", "-u"]);
    pty.expect("agentctl: docker ");
    pty.expect(", isolation container, image host, network none, ");
    ensure!(pty.code() == Some(0));
    let piped = auto(&Place::new(), &[]);
    ensure!(piped.status.success() && piped.stderr.is_empty(), "{piped:?}");
    let verbose = auto(&Place::new(), &["--verbose"]);
    let said = String::from_utf8_lossy(&verbose.stderr);
    ensure!(said.contains("looked for docker: Docker ") && said.contains(" at unix://"), "{said}");
    Ok(())
}

/// R64: the lines required for workers.
async fn a_workers_log_reports_enabled() -> Result<()> {
    let output = auto(&Place::new(), &["--log", "worker"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    let [enabled, context] = lines.as_slice() else { anyhow::bail!("two lines: {said}") };
    ensure!(enabled.contains("Z INFO Docker isolation ENABLED (Docker "), "{said}");
    ensure!(context.contains("Z INFO Execution context: docker (Docker "), "{said}");
    Ok(())
}

/// R62: an engine without the image is passed over for that reason; no other engine here has it.
async fn an_image_that_cannot_be_had() -> Result<()> {
    let output = auto(&Place::new(), &["--image", "localhost:1/no-such-image:7"]);
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(125) && output.stdout.is_empty(), "{output:?}");
    for word in
        ["docker: the image `localhost:1/no-such-image:7` is not here", "local: it has no images", "try: "]
    {
        ensure!(said.contains(word), "{word} in {said}");
    }
    Ok(())
}

/// R63, R64: the workers' switch, with its lines; a flag overrides it, with a message.
async fn enable_docker_is_false() -> Result<()> {
    let place = Place::new();
    let in_place = |options: &[&str]| {
        let args = ["run"].iter().chain(options).chain(&["--", "id", "-u"]);
        place.agentctl(args).env_remove(LOCAL.0).env("ENABLE_DOCKER", "false").output()
    };
    let output = in_place(&["--log", "worker"])?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}");
    ensure!(said.contains("Z WARN Docker isolation DISABLED (ENABLE_DOCKER=false)"), "{said}");
    ensure!(said.contains("Z INFO Execution context: local"), "{said}");
    let object: serde_json::Value = serde_json::from_slice(&in_place(&["--json"])?.stdout)?;
    ensure!(object["executor"] == "local", "{object}");
    ensure!(object["selection"]["passed_over"][0]["reason"] == "ENABLE_DOCKER=false", "{object}");
    let flag = in_place(&["--sandbox", "docker"])?;
    let said = String::from_utf8_lossy(&flag.stderr);
    ensure!(flag.status.success() && said.contains("WARN ENABLE_DOCKER does not count"), "{said}");
    let object: serde_json::Value =
        serde_json::from_slice(&in_place(&["--sandbox", "docker", "--json"])?.stdout)?;
    ensure!(
        object["executor"] == "docker" && object["warnings"].as_array().is_some_and(|all| all.len() == 1),
        "{object}"
    );
    Ok(())
}
