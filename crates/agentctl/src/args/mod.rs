//! The command line as it was typed. Knows words and their spelling; [`crate::resolve`] knows their meaning.

mod bootstrap;
mod config;
mod control;
mod files;
mod how;
mod images;
mod mcp;
mod options;
mod stdio;
mod walls;
mod workshop;

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

pub(crate) use bootstrap::BootstrapArgs;
pub(crate) use config::{ConfigArg, ConfigArgs, ConfigCommand, InitArgs, ShowArgs};
pub(crate) use control::{
    EmergencyStopArgs, GcArgs, HealthArgs, KillArgs, PsArgs, RmArgs, StopArgs, TargetArgs, TopArgs,
};
pub(crate) use files::FileArgs;
pub(crate) use how::HowArgs;
pub(crate) use images::{ImagesArgs, ImagesCommand};
#[cfg(feature = "mcp")]
pub(crate) use mcp::ClientArg;
pub(crate) use mcp::McpArgs;
pub(crate) use options::OptionArgs;
pub(crate) use stdio::{LogArg, SecretArgs, StdinArg, TalkArgs, TtyArg};
pub(crate) use walls::{WallsArg, WallsArgs};
pub(crate) use workshop::{WorkshopArgs, WorkshopCommand, WorkshopRunArgs};

use crate::exit_code;

/// Headings in help that several groups of options share.
const SANDBOX: &str = "Sandbox";
const FILES: &str = "Files";
const ENVIRONMENT: &str = "Environment";

/// Runs commands in a sandbox; everything they start dies with them.
#[derive(Debug, Parser)]
#[command(
    name = "agentctl",
    version,
    after_help = "Examples:
  agentctl run -- echo hello
  agentctl run --timeout 10m --memory 4g -- cargo test
  agentctl shell
  agentctl ps
  agentctl emergency-stop
  agentctl config show

`agentctl run --help` explains every option."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Whether the answer is a JSON object.
    pub(crate) fn wants_json(&self) -> bool {
        match &self.command {
            Command::Run(args) => args.io.json,
            Command::Doctor(args) => args.json,
            Command::Ps(args) => args.json,
            Command::Health(args) => args.json,
            Command::Gc(args) => args.json,
            Command::Images(args) => matches!(
                &args.command,
                ImagesCommand::Ls { json: true, .. } | ImagesCommand::Prune { json: true, .. }
            ),
            Command::Stop(args) => args.json,
            Command::Kill(args) => args.json,
            Command::Rm(args) => args.json,
            Command::EmergencyStop(args) => args.json,
            Command::Config(args) => matches!(&args.command, ConfigCommand::Show(args) if args.json),
            _ => false,
        }
    }

    /// The options about agentctl's own messages, for commands that have them.
    pub(crate) fn talk(&self) -> Option<&TalkArgs> {
        match &self.command {
            Command::Run(args) => Some(&args.how.talk),
            Command::Shell(args) => Some(&args.how.talk),
            Command::Doctor(args) => Some(&args.how.talk),
            Command::Mcp(args) => Some(&args.how.talk),
            Command::Workshop(args) => args.talk(),
            _ => None,
        }
    }
}

/// A command of agentctl.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    // Their `--help` texts are with their arguments.
    Run(Box<RunArgs>),
    Shell(Box<ShellArgs>),
    Mcp(Box<McpArgs>),
    Workshop(WorkshopArgs),
    Doctor(Box<DoctorArgs>),
    Ps(PsArgs),
    Health(HealthArgs),
    Top(TopArgs),
    Stop(StopArgs),
    Kill(KillArgs),
    Rm(RmArgs),
    EmergencyStop(EmergencyStopArgs),
    /// Lift an emergency stop, so that new runs start again.
    Resume,
    Gc(GcArgs),
    Images(ImagesArgs),
    Config(ConfigArgs),
    BootstrapDocker(BootstrapArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Examples:
  agentctl completions bash > ~/.local/share/bash-completion/completions/agentctl
  agentctl completions zsh > ~/.zfunc/_agentctl
  agentctl completions fish > ~/.config/fish/completions/agentctl.fish")]
    Completions {
        /// Complete for this shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all pages into a directory.
    #[command(after_help = "Examples:
  agentctl man | man -l -
  agentctl man ~/.local/share/man/man1")]
    Man {
        /// Write agentctl.1, agentctl-run.1 and the others here.
        #[arg(value_name = "DIR")]
        directory: Option<std::path::PathBuf>,
    },
}

const RUN_EXAMPLES: &str = "Examples:
  agentctl run -- echo hello
  agentctl run -- sh -c 'make && make test'
  agentctl run --workspace-mode ro --write-path target -- cargo build --offline
  agentctl run --timeout 30s --memory 512m --json -- python3 script.py
  agentctl run --secret TOKEN --env MODE=ci -- ./deploy --dry-run
  tar c . | agentctl run --stdin inherit -- sha256sum";

/// Run one command in a sandbox.
///
/// The command sees the host's programs read-only, the workspace (--workspace, by default the current
/// directory) writable at its own path, a private /tmp, and no network. Its output passes through as it is
/// written; agentctl's own messages go to standard error. When the command ends, everything it started is
/// dead.
#[derive(Debug, Args)]
#[command(
    override_usage = "agentctl run [OPTIONS] -- CMD [ARGS]...",
    after_help = RUN_EXAMPLES,
    after_long_help = format!("{RUN_EXAMPLES}\n\n{}", exit_code::TABLE),
)]
pub(crate) struct RunArgs {
    /// Run this program with these arguments, literally and without a shell.
    #[arg(value_name = "CMD", trailing_var_arg = true)]
    pub(crate) argv: Vec<OsString>,

    #[command(flatten)]
    pub(crate) io: stdio::RunIoArgs,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// Open an interactive shell in a sandbox.
///
/// Opens your $SHELL if the sandbox has it, else bash or sh. It has no time limit unless --timeout sets one.
/// When it ends, everything it started is dead.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl shell
  agentctl shell --workspace ~/project --workspace-mode ro
  agentctl shell --network host --memory 8g")]
pub(crate) struct ShellArgs {
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// Check what works here, and how to fix the rest.
///
/// Makes a cell in every sandbox and tries what runs rely on: limits, no network, files that are yours, git
/// worktrees, and that stop means stop. Names the fix for everything that fails. With options of `run` it
/// tries a run with those. Exits with 0 if the sandbox a run would get works, else with 1.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl doctor
  agentctl doctor --sandbox docker --image python:3.12-slim
  agentctl doctor --json | jq .chosen")]
pub(crate) struct DoctorArgs {
    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_makes_sense() {
        Cli::command().debug_assert();
    }

    fn argv_of(line: &[&str]) -> Vec<OsString> {
        match Cli::try_parse_from(line).unwrap().command {
            Command::Run(args) => args.argv,
            other => panic!("not a run: {other:?}"),
        }
    }

    /// A35
    #[test]
    fn arguments_after_the_command_are_literal() {
        assert_eq!(argv_of(&["agentctl", "run", "--", "--privileged", "--json"]), ["--privileged", "--json"]);
        assert_eq!(argv_of(&["agentctl", "run", "ls", "-la", "--json"]), ["ls", "-la", "--json"]);
        assert_eq!(argv_of(&["agentctl", "run", "--json", "--", "a", "--", "-t"]), ["a", "--", "-t"]);
    }

    #[test]
    fn an_option_that_does_not_exist_is_not_taken_for_a_command() {
        assert!(Cli::try_parse_from(["agentctl", "run", "--privileged", "--", "ls"]).is_err());
    }
}
