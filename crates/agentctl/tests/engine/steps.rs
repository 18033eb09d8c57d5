//! R82: an agent's steps on a project – format, vet, test – with Docker on and off. The results are the same.

use std::path::Path;

use anyhow::{Result, ensure};
use exec_testkit::{EngineTest, Skip, engine_test};
use serde_json::Value;

use crate::support::{LOCAL, Place};

pub(crate) const ALL: [EngineTest; 2] =
    [engine_test!(a_correct_project, "R82 R70"), engine_test!(a_faulty_project, "R82")];

/// The steps of an agent before it reports success.
const STEPS: [&[&str]; 3] = [
    &["cargo", "fmt", "--check"],
    &["cargo", "rustc", "--quiet", "--offline", "--lib", "--", "-Dwarnings"],
    &["cargo", "test", "--quiet", "--offline", "--lib"],
];

const MANIFEST: &str = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

const IN_ORDER: &str = "\
pub fn double(n: u32) -> u32 {
    2 * n
}

#[test]
fn doubles() {
    assert_eq!(double(21), 42);
}
";

/// Badly formatted, with an unused variable and a failing test.
const NOT_IN_ORDER: &str = "\
pub fn double(n: u32) -> u32 { let unused = 1;
    3 * n
}

#[test]
fn doubles() {
    assert_eq!(double(21), 42);
}
";

/// How a step ended, without the place and the time, which differ from run to run.
#[derive(Debug, PartialEq, Eq)]
struct Ending {
    code: Value,
    ended: Value,
    printed: String,
}

fn step(place: &Place, docker: bool, argv: &[&str]) -> Result<Ending> {
    let options = ["run", "--json", "--preset", "build", "--"];
    let mut command = place.agentctl(options.iter().chain(argv));
    command.env_remove(LOCAL.0).env("ENABLE_DOCKER", docker.to_string());
    let object: Value = serde_json::from_slice(&command.output()?.stdout)?;
    let executor = if docker { "docker" } else { "local" };
    // Without Docker the machine may have Podman, which is ruled out as well.
    ensure!(object["executor"] == executor, "{object}");
    Ok(Ending {
        code: object["exit_code"].clone(),
        ended: object["ended"].clone(),
        printed: plain(&object["stdout"], place.path()),
    })
}

fn plain(text: &Value, place: &Path) -> String {
    let here = place.canonicalize().unwrap_or_default().display().to_string();
    let text = text.as_str().unwrap_or_default().replace(&here, "");
    let lines = text.lines().map(|line| line.split("; finished in").next().unwrap_or_default());
    lines.filter(|line| !line.contains("panicked at")).collect::<Vec<_>>().join("\n")
}

fn endings(source: &str, docker: bool) -> Result<Vec<Ending>> {
    let place = Place::new();
    place.file("Cargo.toml", MANIFEST);
    std::fs::create_dir(place.path().join("src"))?;
    place.file("src/lib.rs", source);
    STEPS.iter().map(|argv| step(&place, docker, argv)).collect()
}

fn compare(source: &str) -> Result<Vec<Ending>> {
    if std::process::Command::new("cargo")
        .arg("fmt")
        .arg("--version")
        .output()
        .map_or(true, |out| !out.status.success())
    {
        anyhow::bail!(Skip("cargo with rustfmt is not installed".into()));
    }
    let (with, without) = (endings(source, true)?, endings(source, false)?);
    ensure!(with == without, "with Docker {with:#?}, without {without:#?}");
    Ok(with)
}

fn codes(endings: &[Ending]) -> Vec<&Value> {
    endings.iter().map(|ending| &ending.code).collect()
}

/// R82, R70: every step passes, with the host's own toolchain and without a network.
async fn a_correct_project() -> Result<()> {
    let endings = compare(IN_ORDER)?;
    ensure!(codes(&endings) == [0, 0, 0], "{endings:#?}");
    ensure!(endings[2].printed.contains("1 passed"), "{endings:#?}");
    Ok(())
}

/// R82: every step fails, with the tools' own codes and messages.
async fn a_faulty_project() -> Result<()> {
    let endings = compare(NOT_IN_ORDER)?;
    ensure!(codes(&endings) == [1, 101, 101], "{endings:#?}");
    ensure!(endings[0].printed.contains("Diff in /src/lib.rs"), "{endings:#?}");
    ensure!(endings[2].printed.contains("1 failed"), "{endings:#?}");
    Ok(())
}
