//! Commands that list and stop runs.

use std::time::Duration;

use clap::Args;

/// The runs to act on.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct TargetArgs {
    /// Select runs by their names in `agentctl ps`, or a prefix of them.
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,

    /// Select all sessions of this name, with everything in them.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Vec<String>,

    /// Select everything of this orchestrator, by its id or process id.
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: Vec<String>,

    /// Select everything in your state directory, including warm cells.
    #[arg(long, conflicts_with_all = ["runs", "session", "owner"])]
    pub(crate) all: bool,
}

/// List running commands of all orchestrators.
///
/// Shows the runs of all your orchestrators on this machine, in every sandbox, from the records in the state
/// directory (`AGENTCTL_STATE_DIR`, else agentctl below `XDG_RUNTIME_DIR`, for root /run/agentctl).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl ps
  agentctl ps --all
  agentctl ps --json | jq '.cells[] | select(.owner_state == \"dead\")'")]
pub(crate) struct PsArgs {
    /// Include idle warm cells.
    #[arg(short, long)]
    pub(crate) all: bool,

    /// Print one object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Ask runs to end, and kill them after a grace period.
///
/// Sends SIGTERM to the commands and kills those still alive after --grace. Returns when none of their
/// processes is left. Exits with 1 and names the survivors if any could not be ended.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl stop 3f2a-0-9c1e
  agentctl stop --session build --grace 5s
  agentctl stop --owner 4711
  agentctl stop --all")]
pub(crate) struct StopArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Wait this long before killing.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = exec_core::parse_duration)]
    pub(crate) grace: Duration,

    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Kill runs at once, with everything they started.
///
/// Returns when none of their processes is alive and their containers are gone. Exits with 1 and names the
/// survivors if any could not be ended.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl kill 3f2a-0-9c1e
  agentctl kill --session build
  agentctl kill --all --json")]
pub(crate) struct KillArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Remove runs and sessions; --force kills running ones.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl rm --session build
  agentctl rm --force --all")]
pub(crate) struct RmArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Kill running ones.
    #[arg(short, long)]
    pub(crate) force: bool,

    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Stop everything now, and refuse new runs.
///
/// First refuses new runs, in every sandbox and every orchestrator of yours, until `agentctl resume`. Then
/// kills everything, repeatedly until nothing is left, and without the engines if they hang. Asks no
/// questions. Exits with 1 and names the survivors if any could not be ended.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl emergency-stop
  agentctl emergency-stop --json")]
pub(crate) struct EmergencyStopArgs {
    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Report health: running, stopped or error.
///
/// Prints the number of runs, sessions and processes and their resource usage. Exits with 1 if something is
/// wrong, and names the remedy.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl health
  agentctl health --session build
  agentctl health --json | jq -r .state")]
pub(crate) struct HealthArgs {
    /// Report on a run, by its name in `agentctl ps` or a prefix of it. Default: everything.
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// Report on a session instead.
    #[arg(long, value_name = "NAME", conflicts_with = "run")]
    pub(crate) session: Option<String>,

    /// Report on an orchestrator instead, by its id or process id.
    #[arg(long, value_name = "OWNER", conflicts_with_all = ["run", "session"])]
    pub(crate) owner: Option<String>,

    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch running commands live; sort and kill them.
///
/// Keys: up and down select, c m p d a n sort by CPU, memory, processes, network denials, age and name, r
/// reverses, w shows warm cells, k kills the selected run (asks first), q quits.
///
/// DENIED counts attempts to reach a network that found no way out; `-` if the sandbox shares this machine's
/// network or can't be inspected.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl top
  agentctl top --interval 500ms")]
pub(crate) struct TopArgs {
    /// Refresh this often.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = exec_core::parse_duration)]
    pub(crate) interval: Duration,
}

/// Remove resources left behind by dead orchestrators.
///
/// Removes their processes, containers, volumes, networks, control groups, directories and records, and
/// closes their open runs in the audit log. Keeps everything that has a live owner, is in use, or is not
/// ours. Every orchestrator does the same when it starts, except for volumes and networks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl gc --dry-run
  agentctl gc")]
pub(crate) struct GcArgs {
    /// Print what would be removed, and remove nothing.
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,

    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
