//! `agentctl`: runs commands in a sandbox.
//!
//! Arguments go through three stages: [`args`] parses the command line, [`resolve`] interprets it,
//! [`commands`] carries it out. This is the only crate that prints, and [`output`] the only place in it that
//! does.

mod args;
mod backends;
mod choose;
mod commands;
mod drive;
mod exit_code;
mod input;
mod output;
mod resolve;
mod settle;
mod signals;
mod terminal;
#[cfg(feature = "top")]
mod top;
mod usage;

use std::process::ExitCode;

use clap::Parser;
use exec_core::{Error, ErrorKind, Result};

use args::{Cli, Command};
use output::Voice;

/// musl's own allocator asks the kernel for memory every few allocations, which would delay a short command.
#[cfg(target_env = "musl")]
#[global_allocator]
static MEMORY: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::report(error).into(),
    };
    let json = cli.wants_json();
    let voice = cli.talk().map_or(Voice::Person, |talk| resolve::voice(talk.log));
    output::start_log(cli.talk().is_some_and(|talk| talk.verbose));
    let code = carry_out(cli).unwrap_or_else(|error| {
        if json {
            // The reader of the object is gone.
            let _ = output::print(&output::error_object(&error));
        } else {
            output::say(voice, &(&error).into());
        }
        exit_code::of_error(&error)
    });
    code.into()
}

fn carry_out(cli: Cli) -> Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Error::new(ErrorKind::ResourceExhausted, "start", "can't start the event loop").with_source(error)
    })?;
    let code = runtime.block_on(async {
        match cli.command {
            Command::Run(args) => commands::run::run(*args).await,
            Command::Shell(args) => commands::shell::shell(&args).await,
            Command::Doctor(args) => commands::doctor::doctor(&args).await,
            #[cfg(feature = "mcp")]
            Command::Mcp(args) => commands::mcp::mcp(*args).await,
            #[cfg(not(feature = "mcp"))]
            Command::Mcp(_) => Err(left_out("mcp")),
            Command::Workshop(args) => commands::workshop::workshop(args).await,
            Command::Ps(args) => commands::ps::ps(&args),
            Command::Health(args) => commands::health::health(args),
            #[cfg(feature = "top")]
            Command::Top(args) => commands::top::top(&args).await,
            #[cfg(not(feature = "top"))]
            Command::Top(_) => Err(left_out("top")),
            Command::Images(args) => commands::images::images(args).await,
            Command::Gc(args) => commands::gc::gc(&args).await,
            Command::Stop(args) => commands::stop::stop(args).await,
            Command::Kill(args) => commands::stop::kill(args).await,
            Command::Rm(args) => commands::stop::rm(args).await,
            Command::EmergencyStop(args) => commands::emergency::emergency_stop(&args).await,
            Command::Resume => commands::emergency::resume(),
            Command::Config(args) => commands::config::config(args),
            Command::BootstrapDocker(args) => commands::bootstrap::bootstrap(&args).await,
            Command::Completions { shell } => commands::completions::completions(shell),
            Command::Man { directory } => commands::man::man(directory.as_deref()),
        }
    });
    // Background tasks have nothing left to do that the end of this process does not do.
    runtime.shutdown_background();
    code
}

/// The error for a command that this build leaves out.
#[cfg(not(all(feature = "mcp", feature = "top")))]
fn left_out(command: &str) -> Error {
    Error::new(ErrorKind::Unsupported, "start", format!("this program was built without `{command}`"))
        .with_remedy(format!("build all of it: `cargo run -q -p agentctl -- {command}`"))
}
