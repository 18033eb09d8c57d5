//! Commands that see and stop what runs.

use std::time::Duration;

use clap::Args;

/// What is meant.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct TargetArgs {
    /// Runs, by their names in `agentctl ps` or how those begin.
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,

    /// All sessions of this name, with everything in them.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Vec<String>,

    /// Everything of this orchestrator, by its id or the number of its process.
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: Vec<String>,

    /// Everything that is written down in your state directory, warm cells included.
    #[arg(long, conflicts_with_all = ["runs", "session", "owner"])]
    pub(crate) all: bool,
}

/// List what runs, whichever orchestrator started it.
///
/// Shows the runs of all your orchestrators on this machine, in every sandbox, from the records in the state directory
/// (`AGENTCTL_STATE_DIR`, else agentctl below `XDG_RUNTIME_DIR`, for root /run/agentctl).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl ps
  agentctl ps --all
  agentctl ps --json | jq '.cells[] | select(.owner_state == \"dead\")'")]
pub(crate) struct PsArgs {
    /// Cells that wait for a command too.
    #[arg(short, long)]
    pub(crate) all: bool,

    /// Print one object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Ask runs to end, and kill what has not after a while.
///
/// The commands hear SIGTERM; what is still there after --grace is killed. Returns when nothing of them is left. Exits with 1
/// and names what could not be ended.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl stop 3f2a-0-9c1e
  agentctl stop --session build --grace 5s
  agentctl stop --owner 4711
  agentctl stop --all")]
pub(crate) struct StopArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// How long to wait before killing.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = exec_core::parse_duration)]
    pub(crate) grace: Duration,

    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Kill runs at once, with everything they started.
///
/// Returns when that is verified: no process of them is alive and their containers are gone. Exits with 1 and names what
/// could not be ended.
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

/// Remove runs and sessions: what they left, and with --force what still runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl rm --session build
  agentctl rm --force --all")]
pub(crate) struct RmArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Kill what still runs.
    #[arg(short, long)]
    pub(crate) force: bool,

    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Stop everything now, and let nothing new start.
///
/// First new runs are refused, in every sandbox and every orchestrator of yours, until `agentctl resume`. Then everything
/// that runs is killed, again and again until nothing is left, without the engines where they hang. Asks nothing. Exits
/// with 1 and names what could not be ended.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl emergency-stop
  agentctl emergency-stop --json")]
pub(crate) struct EmergencyStopArgs {
    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Say whether what runs is well: running, stopped or error.
///
/// Says how many runs, sessions and processes there are and what they use. Exits with 1 if something is wrong, and says what
/// to do about it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl health
  agentctl health --session build
  agentctl health --json | jq -r .state")]
pub(crate) struct HealthArgs {
    /// A run, by its name in `agentctl ps` or how that begins. Default: everything.
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// A session instead.
    #[arg(long, value_name = "NAME", conflicts_with = "run")]
    pub(crate) session: Option<String>,

    /// An orchestrator instead, by its id or the number of its process.
    #[arg(long, value_name = "OWNER", conflicts_with_all = ["run", "session"])]
    pub(crate) owner: Option<String>,

    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch what runs, live; sort it, and kill from it.
///
/// Keys: up and down choose, c m p d a n sort by CPU, memory, processes, network denials, age and name, r reverses, w shows
/// warm cells, k kills what is chosen (asks first), q leaves.
///
/// DENIED counts attempts to reach a network that found no way out; `-` where the sandbox shares this machine's network or that
/// can't be seen.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl top
  agentctl top --interval 500ms")]
pub(crate) struct TopArgs {
    /// Time between two looks.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = exec_core::parse_duration)]
    pub(crate) interval: Duration,
}

/// Remove what orchestrators left that are dead.
///
/// Their processes, containers, volumes, networks, control groups, directories and records, and closes what they left open in the
/// audit log. What belongs to anybody alive, what somebody uses and what is not ours stays. Every orchestrator does the same when it
/// starts, but for volumes and networks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl gc --dry-run
  agentctl gc")]
pub(crate) struct GcArgs {
    /// Only say what would be removed.
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,

    /// Print one object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
