//! Properties that must hold in the local sandbox and on Docker.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use exec_testkit::{EngineTest, engine_test};

use crate::client::{Client, MODES, Scene, play};
use crate::support::{Marker, Place};

/// R11
const SOON: Duration = Duration::from_secs(1);

pub(crate) const ALL: [EngineTest; 15] = [
    engine_test!("local", every_tool, "R80 R81 R33 R42 A34"),
    engine_test!("docker", every_tool, "R80 R81 R33 R42 A34"),
    engine_test!("local", output_is_reported_while_it_is_written, "R80"),
    engine_test!("docker", output_is_reported_while_it_is_written, "R80"),
    engine_test!("local", much_output, "R80 A31"),
    engine_test!("docker", much_output, "R80 A31"),
    engine_test!("local", binary_output, "R80"),
    engine_test!("local", fifty_calls_at_once, "R80"),
    engine_test!("docker", fifty_calls_at_once, "R80"),
    engine_test!("local", a_cancelled_call_is_dead, "R80 R10"),
    engine_test!("docker", a_cancelled_call_is_dead, "R80 R10"),
    engine_test!("local", a_killed_client_leaves_nothing, "R80 R11 A19"),
    engine_test!("docker", a_killed_client_leaves_nothing, "R80 R11 A19"),
    engine_test!("local", over_http_with_a_token, "R80"),
    engine_test!("local", a_workers_tools, "R83"),
];

fn in_both_modes(scenario: &str, sandbox: &str) -> Result<()> {
    MODES.iter().try_for_each(|mode| play(&Place::new(), Scene::new(scenario, mode, sandbox)))
}

/// R80, R81, R33, R42, A34: lists the tools and calls each, with valid and invalid arguments.
fn every_tool(sandbox: &str) -> Result<()> {
    in_both_modes("every_tool", sandbox)
}

/// R80: progress arrives while the command waits for it.
fn output_is_reported_while_it_is_written(sandbox: &str) -> Result<()> {
    in_both_modes("progress", sandbox)
}

/// R80, A31: 10 MB are counted to the byte, and saved completely on request.
fn much_output(sandbox: &str) -> Result<()> {
    in_both_modes("big", sandbox)
}

/// R80
fn binary_output(sandbox: &str) -> Result<()> {
    in_both_modes("binary", sandbox)
}

/// R80
fn fifty_calls_at_once(sandbox: &str) -> Result<()> {
    in_both_modes("many", sandbox)
}

/// R80, R10: the call's processes die, including a daemon; processes of other calls keep running.
fn a_cancelled_call_is_dead(sandbox: &str) -> Result<()> {
    for mode in MODES {
        let (place, marker, other) = (Place::new(), Marker::new(), Marker::new());
        let scene = Scene { markers: Some((&marker, &other)), ..Scene::new("cancel", mode, sandbox) };
        let mut client = Client::start(&place, scene)?;
        client.expect("ready")?;
        marker.assert_appears();
        other.assert_appears();
        client.go()?;
        client.expect("cancelled")?;
        marker.assert_gone_within(SOON);
        ensure!(other.is_alive(), "the process of another call is gone too");
        client.go()?;
        client.finish()?;
        other.assert_gone();
    }
    Ok(())
}

/// R80, R11, A19: a killed client leaves nothing behind, whatever calls were running.
fn a_killed_client_leaves_nothing(sandbox: &str) -> Result<()> {
    for mode in MODES {
        let (place, marker, other) = (Place::new(), Marker::new(), Marker::new());
        let scene = Scene { markers: Some((&marker, &other)), ..Scene::new("killed", mode, sandbox) };
        let mut client = Client::start(&place, scene)?;
        client.expect("ready")?;
        marker.assert_appears();
        other.assert_appears();
        client.kill()?;
        marker.assert_gone_within(SOON);
        other.assert_gone_within(SOON);
    }
    Ok(())
}

/// R80: the same tools on a loopback address, for every client that has the token.
fn over_http_with_a_token(sandbox: &str) -> Result<()> {
    let place = Place::new();
    let token = "a-token-that-is-long-enough";
    let options = ["mcp", "--quiet", "--sandbox", sandbox, "--timeout", "60s", "--http", "127.0.0.1:0"];
    let mut server =
        place.agentctl(options).env("AGENTCTL_MCP_TOKEN", token).stderr(Stdio::piped()).spawn()?;
    let mut said = String::new();
    BufReader::new(server.stderr.take().context("no messages")?).read_line(&mut said)?;
    let url = said.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    let played = MODES.iter().try_for_each(|mode| {
        let with = |scenario, token| {
            std::fs::remove_file(place.path().join("go1")).ok();
            play(&place, Scene { server: Some((&url, token)), ..Scene::new(scenario, mode, sandbox) })
        };
        with("every_tool", token)?;
        with("many", token)?;
        ensure!(with("many", "another-token-of-that-length").is_err(), "a wrong token is let in");
        Ok(())
    });
    server.kill()?;
    server.wait()?;
    played.with_context(|| format!("the server said {said:?}"))
}

/// R83: a worker's client gets the tools that its file allows.
fn a_workers_tools(sandbox: &str) -> Result<()> {
    let place = Place::new();
    let worker = "{name: reader, description: Looks, allowed-tools: [sandbox_status, Read]}";
    place.file("shop.yaml", &format!("name: yard\nisolation: process\nworkers: [{worker}]\n"));
    let options = ["--workshop", "shop.yaml", "--worker", "reader"];
    play(&place, Scene { options: &options, ..Scene::new("reader", "auto", sandbox) })
}
