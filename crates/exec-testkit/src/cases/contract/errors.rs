//! A command that can't be run is an error that names the cause, before anything starts.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use exec_core::{Cmd, ErrorKind, ExecOpts, SessionName, WindowSize};

use crate::case::{Case, Skip, case};
use crate::probe::open_to_all;
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(missing_program, "R4 R77"),
    case!(missing_program_by_path, "R4"),
    case!(program_without_permission, "R4"),
    case!(directory_as_program, "R4"),
    case!(program_for_another_machine, "R4"),
    case!(missing_cwd, "R2"),
    case!(file_as_cwd, "R2"),
    case!(cwd_outside, "R2 A36"),
    case!(cwd_that_climbs, "R2 A36"),
    case!(relative_cwd_is_in_the_workspace, "R2"),
    case!(missing_workspace, "R2"),
    case!(empty_program_name, "R2"),
    case!(nul_in_arguments, "R2"),
    case!(errors_name_a_remedy, "R2"),
    case!(a_refused_run_leaves_the_next_alone, "R4"),
    case!(unsupported_options_are_refused, "R2"),
];

async fn run_fails(ctx: &Ctx, cmd: &Cmd, opts: &ExecOpts, kind: ErrorKind) -> Result<()> {
    check::failed(ctx.executor().run(cmd, opts).await, kind).map(drop)
}

async fn cwd_fails(ctx: &Ctx, cwd: &Path) -> Result<()> {
    let opts = ctx.opts().with_cwd(cwd);
    run_fails(ctx, &ctx.probe(&["exit", "0"]), &opts, ErrorKind::InvalidInput).await
}

/// R4, R77: a name that is not on `PATH`.
async fn missing_program(ctx: Ctx) -> Result<()> {
    let cmd = Cmd::new("no-such-program-anywhere");
    let error = check::failed(ctx.executor().run(&cmd, &ctx.opts()).await, ErrorKind::ProgramNotFound)?;
    ensure!(error.to_string().contains("no-such-program-anywhere"), "it does not name the program: {error}");
    Ok(())
}

/// R4: a path that does not exist.
async fn missing_program_by_path(ctx: Ctx) -> Result<()> {
    let cmd = Cmd::new(ctx.workspace().join("nothing-here"));
    run_fails(&ctx, &cmd, &ctx.opts(), ErrorKind::ProgramNotFound).await
}

/// R4: a file without execute permission.
async fn program_without_permission(ctx: Ctx) -> Result<()> {
    let file = ctx.file("plain", "#!/bin/sh\n")?;
    run_fails(&ctx, &Cmd::new(file), &ctx.opts(), ErrorKind::ProgramNotExecutable).await
}

/// R4: a directory.
async fn directory_as_program(ctx: Ctx) -> Result<()> {
    fs::create_dir(ctx.workspace().join("sub"))?;
    let cmd = Cmd::new(ctx.workspace().join("sub"));
    run_fails(&ctx, &cmd, &ctx.opts(), ErrorKind::ProgramNotExecutable).await
}

/// R4: a program for a machine that does not exist is not read as a script.
async fn program_for_another_machine(ctx: Ctx) -> Result<()> {
    let header = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xff\xff\x01\0\0\0";
    let file = ctx.workspace().join("foreign");
    fs::write(&file, header)?;
    open_to_all(&file)?;
    run_fails(&ctx, &Cmd::new(file), &ctx.opts(), ErrorKind::ProgramNotExecutable).await
}

/// R2: a working directory that does not exist.
async fn missing_cwd(ctx: Ctx) -> Result<()> {
    cwd_fails(&ctx, Path::new("not-there")).await
}

/// R2: a working directory that is a file.
async fn file_as_cwd(ctx: Ctx) -> Result<()> {
    ctx.file("plain", "")?;
    cwd_fails(&ctx, Path::new("plain")).await
}

/// R2, A36: a working directory that exists, but outside the workspace.
async fn cwd_outside(ctx: Ctx) -> Result<()> {
    cwd_fails(&ctx, Path::new("/usr")).await
}

/// R2, A36: a path that climbs out of the workspace.
async fn cwd_that_climbs(ctx: Ctx) -> Result<()> {
    cwd_fails(&ctx, Path::new("../..")).await
}

/// R2: a relative working directory is relative to the workspace.
async fn relative_cwd_is_in_the_workspace(ctx: Ctx) -> Result<()> {
    let sub = ctx.workspace().join("sub");
    fs::create_dir(&sub)?;
    let result = ctx.run(&Cmd::new("pwd"), &ctx.opts().with_cwd("sub")).await?;
    check::printed(&result, &sub.canonicalize()?.to_string_lossy())
}

/// R2: a workspace that does not exist.
async fn missing_workspace(ctx: Ctx) -> Result<()> {
    let opts = ExecOpts::in_workspace(ctx.workspace().join("not-there"));
    run_fails(&ctx, &Cmd::new("true"), &opts, ErrorKind::InvalidInput).await
}

/// R2: an empty name.
async fn empty_program_name(ctx: Ctx) -> Result<()> {
    run_fails(&ctx, &Cmd::new(""), &ctx.opts(), ErrorKind::InvalidInput).await
}

/// R2: an argument that no system can pass on.
async fn nul_in_arguments(ctx: Ctx) -> Result<()> {
    run_fails(&ctx, &ctx.probe(&["a\0b"]), &ctx.opts(), ErrorKind::InvalidInput).await
}

/// R2: errors name a remedy.
async fn errors_name_a_remedy(ctx: Ctx) -> Result<()> {
    let cmd = Cmd::new("no-such-program-anywhere");
    let error = check::failed(ctx.executor().run(&cmd, &ctx.opts()).await, ErrorKind::ProgramNotFound)?;
    ensure!(error.remedy().is_some(), "no remedy: {error}");
    Ok(())
}

/// R4: an executor that refused one run still does the next.
async fn a_refused_run_leaves_the_next_alone(ctx: Ctx) -> Result<()> {
    for _ in 0..3 {
        missing_program(ctx.clone()).await?;
        check::exited(&ctx.inside(&["exit", "3"]).await?, 3)?;
    }
    Ok(())
}

fn in_image(ctx: &Ctx) -> ExecOpts {
    let mut opts = ctx.opts();
    opts.image = Some("host".to_owned());
    opts
}

/// R2: an unavailable terminal, session or image is an error, never silently replaced.
async fn unsupported_options_are_refused(ctx: Ctx) -> Result<()> {
    let capabilities = ctx.executor().capabilities();
    let probe = ctx.probe(&["exit", "0"]);
    let session = SessionName::new(ctx.marker());
    let asked = [
        (capabilities.tty, probe.clone(), ctx.opts().with_tty(WindowSize { rows: 24, cols: 80 })),
        (capabilities.sessions, probe.clone(), ctx.opts().in_session(session)),
        (capabilities.images, probe, in_image(&ctx)),
    ];
    let mut refused = asked.into_iter().filter(|(can, ..)| !can).peekable();
    if refused.peek().is_none() {
        bail!(Skip("it can do everything".into()));
    }
    for (_, cmd, opts) in refused {
        let error = check::failed(ctx.executor().run(&cmd, &opts).await, ErrorKind::Unsupported)?;
        ensure!(error.remedy().is_some(), "no remedy: {error}");
    }
    Ok(())
}
