//! Builds the generated image of a project for real and runs the project's own tests in it, without a network
//! and with the project read-only.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};

use crate::base;
use crate::support::Place;
use crate::tools::docker;

/// A project of these files, with its generated Dockerfile.
fn project(files: &[(&str, &str)]) -> Result<Place> {
    base::stand_in()?;
    let place = Place::new();
    for (path, text) in files {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().context("a file has a directory")?)?;
        fs::write(path, text)?;
    }
    let written = place.output(["bootstrap-docker"]);
    ensure!(written.status.success(), "{}", said(&written));
    Ok(place)
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs the project's tests in its image, which is built first. Returns the image's name.
fn test(place: &Place, command: &[&str]) -> Result<Image> {
    let options = [
        "run",
        "--json",
        "--sandbox",
        "docker",
        "--image",
        "build",
        "--workspace-mode",
        "ro",
        "--preset",
        "build",
        "--",
    ];
    let output = place.output(options.iter().chain(command));
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).with_context(|| said(&output))?;
    let name = object["isolation"]["image"].as_str().unwrap_or_default();
    let name = name.split_whitespace().next().unwrap_or_default().to_owned();
    let image = Image(name);
    ensure!(object["exit_code"] == 0, "{}{}", object["stdout"], object["stderr"]);
    ensure!(image.0.starts_with("agentctl/project:"), "{object}");
    Ok(image)
}

/// The image of one test, removed with it.
struct Image(String);

impl Drop for Image {
    fn drop(&mut self) {
        if let Ok(docker) = docker() {
            // The engine's own list shows what is left.
            let _ = Command::new(docker).args(["rmi", "--force", &self.0]).output();
        }
    }
}

/// Builds as a user would, and returns the messages.
fn build(place: &Place, name: &str, options: &[&str]) -> Result<(Image, String)> {
    let docker = docker().map_err(anyhow::Error::msg)?;
    let output = Command::new(docker)
        .env("DOCKER_BUILDKIT", "1")
        .args(["build", "--progress=plain", "--tag", name])
        .args(options)
        .arg(place.path())
        .output()?;
    ensure!(output.status.success(), "{}", said(&output));
    Ok((Image(name.to_owned()), said(&output)))
}

/// R72: the second build takes every step from the cache.
fn ensure_cached(place: &Place, name: &str) -> Result<()> {
    let (_image, said) = build(place, name, &[])?;
    let id = |line: &str| {
        line.strip_prefix('#').and_then(|line| line.split_once(' ')).map(|(id, _)| id.to_owned())
    };
    // The first step is the base image.
    let is_step = |line: &&str| {
        let place = line.split_once(" [").and_then(|(_, rest)| rest.split_once("] "));
        let number = place.and_then(|(place, _)| place.rsplit(' ').next());
        number.is_some_and(|number| number.contains('/') && !number.starts_with("1/"))
    };
    let steps: BTreeSet<String> = said.lines().filter(is_step).filter_map(id).collect();
    let cached: BTreeSet<String> =
        said.lines().filter(|line| line.ends_with(" CACHED")).filter_map(id).collect();
    ensure!(
        steps.len() >= 3 && steps.is_subset(&cached),
        "{steps:?} are steps, {cached:?} were cached:\n{said}"
    );
    Ok(())
}

/// R71, R72, R76: built for the first run, reused by the second, built again when one of its inputs has
/// changed.
pub(crate) async fn go() -> Result<()> {
    // Unique to this test: an image left by an earlier one would be reused.
    let module = format!("module example.com/hello\n\ngo 1.22\n\n// {}\n", std::process::id());
    let place = project(&[
        ("go.mod", &module),
        ("hello.go", "package hello\n\nfunc Hello() string { return \"hello\" }\n"),
        (
            "hello_test.go",
            "package hello\n\nimport \"testing\"\n\nfunc TestHello(t *testing.T) {\n\tif Hello() != \"hello\" {\n\t\tt.Fatal()\n\t}\n}\n",
        ),
    ])?;
    let first = test(&place, &["go", "test", "./..."])?;
    ensure_cached(&place, "agentctl-test/go")?;
    let again = test(&place, &["true"])?;
    ensure!(again.0 == first.0, "nothing has changed");
    std::mem::forget(again);
    place.file("hello.go", "package hello\n\nfunc Hello() string { return \"changed\" }\n");
    let sources = test(&place, &["true"])?;
    ensure!(sources.0 == first.0, "sources are not part of it");
    std::mem::forget(sources);
    place.file("go.mod", "module example.com/hello\n\ngo 1.22\n\n// changed\n");
    ensure!(test(&place, &["true"])?.0 != first.0, "a copied file has changed");
    Ok(())
}

/// R71
pub(crate) async fn node() -> Result<()> {
    let place = project(&[
        (".nvmrc", "20\n"),
        ("package.json", "{\"name\": \"hello\", \"version\": \"1.0.0\"}"),
        (
            "package-lock.json",
            "{\"name\": \"hello\", \"version\": \"1.0.0\", \"lockfileVersion\": 3, \"packages\": {\"\": {\"name\": \"hello\", \"version\": \"1.0.0\"}}}",
        ),
        (
            "hello.test.js",
            "const test = require('node:test');\ntest('adds', () => { if (1 + 1 !== 2) throw new Error(); });\n",
        ),
    ])?;
    let _image = test(&place, &["node", "--test", "."])?;
    ensure_cached(&place, "agentctl-test/node")
}

/// R71, R72: with a package from the registry; two clean builds install the same bytes.
pub(crate) async fn python_twice_from_clean() -> Result<()> {
    let place = project(&[
        (".python-version", "3.11\n"),
        ("requirements.txt", "iniconfig==2.0.0\n"),
        (
            "test_hello.py",
            "import unittest\nimport iniconfig\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertTrue(iniconfig.IniConfig)\n",
        ),
    ])?;
    let _image = test(&place, &["python", "-m", "unittest", "-q"])?;
    let sums = |name: &str| -> Result<String> {
        let (image, _) = build(&place, name, &["--no-cache"])?;
        let script = "find /opt /home /workspace /etc/passwd /etc/group -type f -exec sha256sum {} + | sort -k 2; find /opt /home -printf '%M %u %p %l\\n' | sort -k 3";
        let docker = docker().map_err(anyhow::Error::msg)?;
        let output = Command::new(docker)
            .args(["run", "--rm", "--network", "none", &image.0, "sh", "-c", script])
            .output()?;
        ensure!(output.status.success(), "{}", said(&output));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (first, second) = (sums("agentctl-test/python-1")?, sums("agentctl-test/python-2")?);
    let other: Vec<(&str, &str)> =
        first.lines().zip(second.lines()).filter(|(a, b)| a != b).take(5).collect();
    ensure!(first == second, "{other:#?}");
    ensure!(first.contains("iniconfig"), "the positive control: {first}");
    Ok(())
}

/// R71: with a crate from crates.io, found without a network.
pub(crate) async fn rust() -> Result<()> {
    let place = project(&[
        (
            "Cargo.toml",
            "[package]\nname = \"hello\"\nversion = \"0.1.0\"\nedition = \"2021\"\nrust-version = \"1.85\"\n\n[dependencies]\nitoa = \"=1.0.15\"\n",
        ),
        ("src/lib.rs", "#[test]\nfn two() {\n    assert_eq!(itoa::Buffer::new().format(2), \"2\");\n}\n"),
    ])?;
    // Without a lock file nothing is written to a read-only project: the target directory is elsewhere too.
    let _image = test(&place, &["sh", "-c", "cp -r . /tmp/copy && cd /tmp/copy && cargo test --quiet"])?;
    ensure_cached(&place, "agentctl-test/rust")
}
