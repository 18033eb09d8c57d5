//! Arguments, environment values and output are bytes: nothing is split, expanded or re-encoded.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use anyhow::{Result, ensure};
use bytes::Bytes;
use exec_core::{ExecutorExt, Stdin};

use crate::case::{Case, case};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(arguments_are_literal, "A35"),
    case!(arguments_are_bytes, "R2"),
    case!(long_arguments, "R2"),
    case!(environment_values_are_bytes, "R2"),
    case!(output_is_bytes, "R3"),
];

/// Texts that a shell, an engine or an option parser might interpret.
const TEMPTING: [&str; 12] = [
    "--privileged",
    "-v",
    "--",
    "-",
    "",
    " two  words ",
    "line\nbreak",
    "$HOME",
    "*",
    "'\"\\",
    "`id`",
    "a;b",
];

/// A35: only the command interprets its arguments.
async fn arguments_are_literal(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&[&["echo-args"], &TEMPTING[..]].concat()).await?;
    let expected: String = TEMPTING.iter().flat_map(|word| [*word, "\0"]).collect();
    check::printed(&result, &expected)
}

/// R2: an argument may be any bytes but NUL.
async fn arguments_are_bytes(ctx: Ctx) -> Result<()> {
    let every: Vec<u8> = (1..=255).collect();
    let cmd = ctx.probe(&["echo-args"]).arg(OsString::from_vec(every.clone()));
    let result = ctx.run(&cmd, &ctx.opts()).await?;
    ensure!(*result.stdout.bytes() == [&every[..], b"\0"].concat(), "{}", check::describe(&result));
    Ok(())
}

/// R2: as long as the system accepts.
async fn long_arguments(ctx: Ctx) -> Result<()> {
    let long = "x".repeat(100_000);
    let result = ctx.inside(&["echo-args", &long, &long]).await?;
    check::exited(&result, 0)?;
    ensure!(result.stdout.total() == 200_002, "{} bytes came back", result.stdout.total());
    Ok(())
}

/// R2: a value may be any bytes but NUL.
async fn environment_values_are_bytes(ctx: Ctx) -> Result<()> {
    let every: Vec<u8> = (1..=255).collect();
    let opts = ctx.opts().with_env("EVERY", OsStr::from_bytes(&every));
    let result = ctx.run(&ctx.probe(&["env"]), &opts).await?;
    let wanted = [b"EVERY=", &every[..]].concat();
    let seen = result.stdout.bytes().split(|byte| *byte == 0).any(|line| line == wanted);
    ensure!(seen, "{}", check::describe(&result));
    Ok(())
}

/// R3: output may be any bytes, NUL included.
async fn output_is_bytes(ctx: Ctx) -> Result<()> {
    let every: Vec<u8> = (0..=255).collect();
    let result =
        ctx.executor().run_with_input(&ctx.probe(&["cat"]), Bytes::from(every.clone()), &ctx.opts()).await?;
    ensure!(*result.stdout.bytes() == every, "{}", check::describe(&result));
    let opts = ctx.opts().with_stdin(Stdin::Bytes(Bytes::from_static(b"\xff\xfe")));
    let result = ctx.run(&ctx.probe(&["cat"]), &opts).await?;
    ensure!(*result.stdout.bytes() == *b"\xff\xfe", "{}", check::describe(&result));
    Ok(())
}
