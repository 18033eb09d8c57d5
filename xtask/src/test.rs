//! `cargo xtask test`: everything that must hold before a change goes in.

use anyhow::{Result, bail};

use crate::args::{Scope, TestOptions};
use crate::cargo::{cargo, run as run_command};
use crate::steps::{OnFailure, Outcome, Steps};
use crate::strangers::Strangers;
use crate::{setup, tidy};

/// Runs all steps and prints how each ended.
pub(crate) fn run(options: TestOptions) -> Result<()> {
    let mut steps = Steps::new(options.on_failure);
    steps.step("set-up", || {
        setup::run();
        Ok(Outcome::Passed)
    });
    lint_step(&mut steps, options.scope, "fmt", &["fmt", "--all", "--check"]);
    lint_step(
        &mut steps,
        options.scope,
        "clippy",
        &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
    );
    steps.step("tidy", || tidy::run().map(|()| Outcome::Passed));
    let mut strangers = Strangers::default();
    steps.step("strangers on the engines", || strangers.enter());
    steps.step("tests", || {
        let mut test = cargo(&["test", "--workspace"]);
        // What the tests leave their notes in is not the user's own.
        test.env("XDG_STATE_HOME", crate::cargo::root().join("target/test-state"));
        if options.on_failure == OnFailure::KeepGoing {
            test.arg("--no-fail-fast");
        }
        run_command(&mut test).map(|()| Outcome::Passed)
    });
    lint_step(&mut steps, options.scope, "doc", &["doc", "--workspace", "--no-deps"]);
    #[cfg(unix)]
    steps.step("tests as an ordinary user", crate::ordinary_user::run);
    #[cfg(not(unix))]
    steps.leave_out("tests as an ordinary user", "only on Unix");
    // A37: over all tests.
    steps.step("the strangers are untouched", || strangers.are_untouched());

    print!("{}", steps.summary());
    match steps.failed() {
        0 => Ok(()),
        1 => bail!("one step failed"),
        several => bail!("{several} steps failed"),
    }
}

fn lint_step(steps: &mut Steps, scope: Scope, name: &'static str, args: &[&str]) {
    match scope {
        Scope::Fast => steps.leave_out(name, "--fast"),
        Scope::Everything => steps.step(name, || {
            run_command(cargo(args).env("RUSTDOCFLAGS", "-D warnings")).map(|()| Outcome::Passed)
        }),
    }
}
