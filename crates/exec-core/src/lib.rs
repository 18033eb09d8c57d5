//! Runs an agent's commands, independent of the sandbox that runs them.
//!
//! An [`Executor`] takes a [`Cmd`] and [`ExecOpts`] and returns an [`ExecResult`]. Three rules hold for every
//! executor and are tested on each:
//!
//! - A failing command is a result; only a failing sandbox is an [`Error`].
//! - When a run ends, is cancelled, times out or its handle is dropped, everything it started is dead.
//! - The result reports the [`Isolation`] that held. A sandbox, limit or feature requested by name is provided or refused.
//!
//! This crate knows no backend. Executors live in `exec-local` and its siblings and are collected in a [`Registry`].
//!
//! # Examples
//!
//! ```
//! use exec_core::{Cmd, ExecOpts, Executor, ExecutorExt};
//!
//! async fn test_it(executor: &dyn Executor) -> exec_core::Result<bool> {
//!     let opts = ExecOpts::in_workspace("/srv/project").with_timeout(std::time::Duration::from_secs(60));
//!     let result = executor.run(&Cmd::new("cargo").args(["test", "--offline"]), &opts).await?;
//!     println!("{} in {}: {}", result.outcome.executor, result.outcome.isolation.level, result.stdout.text());
//!     Ok(result.success())
//! }
//! ```

mod capabilities;
mod capture;
mod cmd;
mod env;
mod error;
mod event;
mod execution;
mod executor;
mod host;
mod isolation;
mod limits;
mod needs;
mod opts;
pub mod printable;
mod registry;
mod remedy;
mod report;
mod resolve;
mod result;
mod search_path;
mod select;
mod selected;
mod selection;
mod shell;
mod value;

pub use capabilities::{Capabilities, Claim, EngineInfo, Exception};
pub use capture::{Capture, Captured, Collector};
pub use cmd::Cmd;
pub use env::{EnvPolicy, inherited_environment};
pub use error::{Error, ErrorKind, Result, Retry};
pub use event::{Event, Stream};
pub use exec_files::OwnPlaces;
pub use execution::{Control, Execution, RunHandle, RunId, StdinWriter};
pub use executor::{Executor, ExecutorExt, Health, Wraps};
pub use host::{ControlGroups, NamespaceBan, container_sign, is_root};
pub use isolation::{Held, Isolation, IsolationLevel, LimitReport};
pub use limits::{Limit, LimitName, LimitPolicy, Limits, Machine, Preset, ResolvedLimits};
pub use needs::{BUILD_IMAGE, HOST_IMAGE, Needs};
pub use opts::{DangerousMounts, ExecOpts, Lifetime, SessionName, Stdin, User, Workspace, WorkspaceMode};
pub use registry::{Detected, Registry};
pub use remedy::{Change, Direction, Operation, Remedy, Step};
pub use report::Report;
pub use resolve::{
    DEFAULT_GRACE, Fences, FileId, NOBODY, Plan, PlannedMount, Prepared, accept_build_files,
    check_build_files, could_be_a_commands,
};
pub use result::{Denial, Ended, ExecResult, LimitHit, Outcome, Status, Usage};
pub use search_path::SearchPath;
pub use select::select;
pub use selection::{Availability, Because, Candidate, PassedOver, Request, Selection};
pub use shell::ShellCommandAdapter;
pub use value::{
    Access, ByteSize, Cpus, Gpus, MountSpec, Network, ParseValueError, Signal, WindowSize, parse_duration,
};
