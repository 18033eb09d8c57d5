//! The command sees the caller's allowed variables plus those of the options, and nothing else.

use anyhow::{Context, Result, ensure};
use exec_core::{Cmd, EnvPolicy, ErrorKind, ExecOpts};

use crate::case::{Case, case};
use crate::probe::open_to_all;
use crate::reexec::{ALLOWED, PLANTED, SECRET};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(secrets_stay_outside, "A33"),
    case!(allowed_variables_pass, "R2"),
    case!(options_add_and_win, "R2"),
    case!(named_variables_pass, "R2"),
    case!(a_clean_environment_is_clean, "R2"),
    case!(runs_do_not_share_variables, "R2"),
    case!(planted_programs_are_not_found, "A32"),
];

async fn seen(ctx: &Ctx, opts: &ExecOpts) -> Result<Vec<String>> {
    let result = ctx.run(&ctx.probe(&["env"]), opts).await?;
    check::exited(&result, 0)?;
    Ok(result.stdout.text().split_terminator('\0').map(str::to_owned).collect())
}

fn entry((name, value): (&str, &str)) -> String {
    format!("{name}={value}")
}

fn ensure_absent(seen: &[String], name: &str) -> Result<()> {
    let found = seen.iter().find(|line| line.split('=').next() == Some(name));
    ensure!(found.is_none(), "the command sees {found:?}");
    Ok(())
}

/// A33: variables of the caller beyond the list are hidden. A process that the caller starts itself has them.
async fn secrets_stay_outside(ctx: Ctx) -> Result<()> {
    let outside = ctx.outside(&["env"])?;
    let inside = seen(&ctx, &ctx.opts()).await?;
    for (name, value) in PLANTED {
        ensure!(outside.contains(&entry((name, value))), "{name} is not in the caller's environment");
        ensure_absent(&inside, name)?;
    }
    Ok(())
}

/// R2: variables on the list are passed on unchanged.
async fn allowed_variables_pass(ctx: Ctx) -> Result<()> {
    let inside = seen(&ctx, &ctx.opts()).await?;
    ensure!(inside.contains(&entry(ALLOWED)), "{} is not in {inside:?}", ALLOWED.0);
    Ok(())
}

/// R2: a variable of the options is set, and overrides the caller's.
async fn options_add_and_win(ctx: Ctx) -> Result<()> {
    let inside = seen(&ctx, &ctx.opts().with_env("NEW", "1").with_env(ALLOWED.0, "UTC")).await?;
    ensure!(inside.contains(&entry(("NEW", "1"))), "NEW is not in {inside:?}");
    ensure!(inside.contains(&entry((ALLOWED.0, "UTC"))), "{} is not in {inside:?}", ALLOWED.0);
    ensure!(!inside.contains(&entry(ALLOWED)), "{} is there twice", ALLOWED.0);
    Ok(())
}

/// R2: a variable that the options allow by name passes, and no other.
async fn named_variables_pass(ctx: Ctx) -> Result<()> {
    let mut opts = ctx.opts();
    opts.env_policy = EnvPolicy::Also(vec![SECRET.0.into()]);
    let inside = seen(&ctx, &opts).await?;
    ensure!(inside.contains(&entry(SECRET)), "{} is not in {inside:?}", SECRET.0);
    ensure_absent(&inside, "LD_PRELOAD")
}

/// R2: without inheritance, even allowed variables are missing.
async fn a_clean_environment_is_clean(ctx: Ctx) -> Result<()> {
    let mut opts = ctx.opts();
    opts.env_policy = EnvPolicy::Clean;
    let inside = seen(&ctx, &opts).await?;
    ensure_absent(&inside, ALLOWED.0)?;
    ensure_absent(&inside, SECRET.0)
}

/// R2: one run's variables do not reach the next.
async fn runs_do_not_share_variables(ctx: Ctx) -> Result<()> {
    seen(&ctx, &ctx.opts().with_env("ONLY_ONCE", "1")).await?;
    ensure_absent(&seen(&ctx, &ctx.opts()).await?, "ONLY_ONCE")
}

/// A32: a program in the working directory is not found by name, although the caller's `PATH` has a `.`.
async fn planted_programs_are_not_found(ctx: Ctx) -> Result<()> {
    const NAME: &str = "planted-program";
    open_to_all(&ctx.file(NAME, "#!/bin/sh\necho planted\n")?)?;
    let path = std::env::var("PATH").context("no PATH")?;
    ensure!(path.ends_with(":."), "the caller's PATH has no relative part: {path}");
    let control =
        std::process::Command::new("sh").args(["-c", NAME]).current_dir(ctx.workspace()).output()?;
    ensure!(control.status.success(), "the planted program does not run outside either");
    let by_name = ctx.executor().run(&Cmd::new(NAME), &ctx.opts()).await;
    check::failed(by_name, ErrorKind::ProgramNotFound)?;
    check::exited(&ctx.sh(NAME).await?, 127)
}
