//! `cargo xtask test`: every check that a change must pass.

use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::args::{Scope, TestOptions};
use crate::cargo::{self, Executable, Kind, Package, cargo, run as run_command};
use crate::case_times;
#[cfg(unix)]
use crate::ordinary_user::OrdinaryUser;
use crate::scratch::Scratch;
use crate::steps::{OnFailure, Outcome, Steps};
use crate::strangers::Strangers;
use crate::suites::{self, Suite};
use crate::{setup, tidy};

/// The suites that take minutes: they start first, so that none of them runs alone at the end.
const LONGEST: &[&str] = &[
    "agentctl podman",
    "agentctl cli",
    "exec-docker conformance",
    "agentctl bootstrap",
    "exec-podman conformance",
    "agentctl docker",
    "exec-podman conformance as exectest",
    "agentctl podman as exectest",
    "agentctl cli as exectest",
    "exec-docker unavailable",
    "agentctl mcp",
    "exec-docker broken_engine",
];

/// Runs all steps and prints how each ended.
pub(crate) fn run(options: TestOptions) -> Result<()> {
    let mut steps = Steps::new(options.on_failure);
    steps.step("set-up", || {
        setup::run();
        Ok(Outcome::Passed)
    });
    lint_step(&mut steps, options.scope, "fmt", &["fmt", "--all", "--check"]);
    steps.step("tidy", || tidy::run().map(|()| Outcome::Passed));
    lint_step(
        &mut steps,
        options.scope,
        "clippy",
        &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
    );
    let mut built = Vec::new();
    steps.step("build", || {
        built = cargo::built(None)?;
        Ok(Outcome::Passed)
    });
    let mut strangers = Strangers::default();
    steps.step("strangers on the engines", || strangers.enter());
    let scratch = Scratch::make();
    steps.step("tests", || tests(&built, &scratch, options.on_failure));
    drop(scratch);
    // A37: covers all tests.
    steps.step("the strangers are untouched", || strangers.are_untouched());
    lint_step(&mut steps, options.scope, "doc", &["doc", "--workspace", "--no-deps"]);

    print!("{}", steps.summary());
    match steps.failed() {
        0 => Ok(()),
        1 => bail!("one step failed"),
        several => bail!("{several} steps failed"),
    }
}

/// Runs the tests of all packages, and repeats as an ordinary user those that must pass without privileges.
fn tests(built: &[Executable], scratch: &Scratch, on_failure: OnFailure) -> Result<Outcome> {
    let packages = cargo::metadata()?.packages;
    let tests = built.iter().filter(|executable| executable.kind != Kind::Program);
    let mut all = tests.map(|test| suite(test, &packages, scratch)).collect::<Result<Vec<_>>>()?;
    #[cfg(unix)]
    let mut user = OrdinaryUser::default();
    #[cfg(unix)]
    let left_out = user.repeat(built, &packages, scratch, &mut all)?;
    #[cfg(not(unix))]
    let left_out = Some("an ordinary user's tests are for Unix only".to_owned());
    for suite in &mut all {
        print_times(&mut suite.command)?;
    }
    let documentation = cargo(&["test", "--workspace", "--doc", "--quiet"]);
    all.push(Suite { name: "documentation".into(), command: documentation });
    all.sort_by_key(|suite| LONGEST.iter().position(|name| *name == suite.name).unwrap_or(LONGEST.len()));
    let at_once = thread::available_parallelism().map_or(1, usize::from) + 1;
    suites::run(all, at_once, on_failure)?;
    Ok(left_out.map_or(Outcome::Passed, |why| Outcome::Skipped(format!("in part: {why}"))))
}

/// A test as cargo would run it.
fn suite(test: &Executable, packages: &[Package], scratch: &Scratch) -> Result<Suite> {
    let package = packages.iter().find(|package| package.id == test.package_id);
    let package = package.with_context(|| format!("no package has {}", test.path.display()))?;
    let kind = if test.kind == Kind::UnitTest { " (unit tests)" } else { "" };
    let name = format!("{} {}{kind}", package.name, test.name);
    let mut command = Command::new(&test.path);
    command
        // The tests' records are separate from the user's own.
        .env("XDG_STATE_HOME", cargo::root().join("target/test-state"))
        .envs(scratch.directory().map(|directory| ("TMPDIR", directory)))
        .current_dir(package.manifest_path.parent().context("a manifest lies in no directory")?);
    Ok(Suite { name, command })
}

/// Makes a test executable print how long each of its tests takes.
fn print_times(command: &mut Command) -> Result<()> {
    let help = Command::new(command.get_program()).arg("--help").output();
    let help = help.with_context(|| format!("cannot start {}", command.get_program().display()))?;
    command.env(case_times::VARIABLE, "1");
    if String::from_utf8_lossy(&help.stdout).contains("--report-time") {
        command.args(case_times::OPTIONS).envs([case_times::UNSTABLE]);
    }
    Ok(())
}

fn lint_step(steps: &mut Steps, scope: Scope, name: &'static str, args: &[&str]) {
    match scope {
        Scope::Fast => steps.leave_out(name, "--fast"),
        Scope::Everything => steps.step(name, || {
            run_command(cargo(args).env("RUSTDOCFLAGS", "-D warnings")).map(|()| Outcome::Passed)
        }),
    }
}
