//! The programs that read generated files: whether they are installed, and what they report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use exec_bootstrap::{Plan, Scope, Tree, Wishes};
use exec_testkit::Skip;

/// A tool that `cargo xtask test` installs below the target directory, or one of this machine's.
pub(crate) fn tool(name: &str) -> Result<PathBuf> {
    let own = test_tools().join("bin").join(name);
    let places = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    let found = std::iter::once(own)
        .chain(places.into_iter().map(|place| place.join(name)))
        .find(|path| path.is_file());
    found.ok_or_else(|| Skip(format!("{name} is not installed")).into())
}

pub(crate) fn test_tools() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("test-tools")
}

/// A `docker` that supports cache mounts: version 23 or later, or one with buildx.
pub(crate) fn docker() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs =
        std::env::split_paths(&path).map(|place| place.join("docker")).filter(|path| path.is_file());
    let says = |program: &Path, words: &[&str]| {
        Command::new(program).args(words).output().ok().filter(|output| output.status.success())
    };
    let can = |program: &PathBuf| {
        let old = says(program, &["--version"]).is_some_and(|output| {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.split_whitespace()
                .find_map(|word| word.split('.').next()?.parse::<u32>().ok())
                .is_some_and(|major| major < 23)
        });
        old || says(program, &["buildx", "version"]).is_some()
    };
    let program = programs.into_iter().find(can).ok_or("no docker here can build with BuildKit")?;
    says(&program, &["info"]).map(|_| program).ok_or_else(|| "the Docker engine does not answer".to_owned())
}

/// Every fixture of exec-bootstrap that produces files, with and without the application.
fn plans() -> Result<Vec<(String, Plan)>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exec-bootstrap/tests/fixtures");
    let mut plans = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let mut blocks = text.split("=== ");
        let options = blocks.next().unwrap_or_default();
        let option = |name: &str| options.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let files: Vec<(String, String)> = blocks
            .map(|block| block.split_once('\n').unwrap_or((block, "")))
            .map(|(path, text)| (path.trim().to_owned(), text.to_owned()))
            .collect();
        for scope in [Scope::Image, Scope::Compose] {
            let agents = option("--with-cli").into_iter().flat_map(|names| names.split(','));
            let wishes = Wishes {
                base: option("--base").map(str::to_owned),
                agents: agents.map(|agent| agent.parse().unwrap()).collect(),
                scope,
                digests: None,
            };
            if let Ok(plan) = Plan::of(&Tree::of_texts(files.clone()), &wishes) {
                plans.push((format!("{} {scope:?}", path.file_stem().unwrap().display()), plan));
            }
        }
    }
    ensure!(plans.len() > 100, "only {}", plans.len());
    Ok(plans)
}

/// R71: the linter reports nothing about any generated Dockerfile, and does report a bad one.
pub(crate) async fn hadolint_reports_nothing() -> Result<()> {
    let hadolint = tool("hadolint")?;
    let directory = tempfile::tempdir()?;
    let bad = directory.path().join("bad");
    fs::write(&bad, "FROM debian\nRUN apt-get install x\n")?;
    ensure!(!Command::new(&hadolint).arg(&bad).output()?.status.success(), "the positive control");
    let mut paths = Vec::new();
    for (name, plan) in plans()? {
        for file in plan.files().into_iter().filter(|file| file.path.starts_with("Dockerfile")) {
            let path = directory.path().join(format!("{name} {}", file.path));
            fs::write(&path, file.text)?;
            paths.push(path);
        }
    }
    let output = Command::new(&hadolint).arg("--no-color").args(&paths).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// R74: compose reads every generated file and refuses a broken one.
pub(crate) async fn compose_accepts_every_file() -> Result<()> {
    let compose = tool("docker-compose")?;
    let directory = tempfile::tempdir()?;
    let accepted = |text: &str| -> Result<_> {
        fs::write(directory.path().join("file.yml"), text)?;
        let output = Command::new(&compose)
            .args(["-f", "file.yml", "config", "--quiet"])
            .current_dir(&directory)
            .output();
        output.context("docker-compose")
    };
    ensure!(!accepted("services: {app: {imag: x}}\n")?.status.success(), "the positive control");
    let mut texts = std::collections::BTreeMap::new();
    for (name, plan) in plans()? {
        for file in plan.files().into_iter().filter(|file| file.path.starts_with("docker-compose")) {
            texts.insert(file.text, name.clone());
        }
    }
    ensure!(texts.len() > 10, "only {}", texts.len());
    for (text, name) in texts {
        let output = accepted(&text)?;
        ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
