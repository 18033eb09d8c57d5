//! Options that bound what a run may use.

use std::time::Duration;

use clap::{Args, ValueEnum};
use exec_config::values::{count, limit, time};
use exec_core::{ByteSize, Cpus, Limit, parse_duration};

/// How much a run may use. Values may begin with a dash, so that a negative one is told that it is no size rather than
/// no option. A limit given here holds or the run is refused; those of the preset hold as well as they
/// can, and what did not is reported.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits (a value of `unlimited` lifts one)")]
pub(crate) struct LimitArgs {
    /// Where limits that are not given come from. Default: default.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) preset: Option<PresetArg>,

    /// Memory of all processes together, like `512m` or `2g`.
    #[arg(short, long, value_name = "SIZE", value_parser = limit::<ByteSize>, allow_hyphen_values = true)]
    pub(crate) memory: Option<Limit<ByteSize>>,

    /// CPUs, like `2` or `0.5`.
    #[arg(long, value_name = "N", value_parser = limit::<Cpus>, allow_hyphen_values = true)]
    pub(crate) cpus: Option<Limit<Cpus>>,

    /// Processes and threads at once.
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub(crate) pids: Option<Limit<u32>>,

    /// Open files per process.
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub(crate) open_files: Option<Limit<u32>>,

    /// Size of the private /tmp.
    #[arg(long, value_name = "SIZE", value_parser = limit::<ByteSize>, allow_hyphen_values = true)]
    pub(crate) tmp_size: Option<Limit<ByteSize>>,

    /// Longest run, like `30s`, `5m` or `1h 30m`; a bare number is seconds.
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Limit<Duration>>,

    /// Longest silence.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) idle_timeout: Option<Duration>,

    /// Time between the polite signal and the kill when a run is stopped [default: 5s].
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) grace: Option<Duration>,

    /// Stop a run that writes more output than this.
    #[arg(long, value_name = "SIZE", value_parser = limit::<ByteSize>, allow_hyphen_values = true)]
    pub(crate) max_output: Option<Limit<ByteSize>>,

    /// Run even if a limit given here can't be held, and report that, instead of refusing.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) best_effort_limits: Option<bool>,
}

/// A named set of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetArg {
    /// 2 CPUs, 2 GiB, 1024 processes, 5 minutes.
    Default,
    /// All CPUs, three quarters of the memory, 4096 processes, 30 minutes.
    Build,
    /// 2 CPUs, 512 MiB, 32 processes, 30 seconds, /tmp of 50 MiB.
    Strict,
}
