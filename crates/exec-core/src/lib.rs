//! Running an agent's commands, whatever runs them.
//!
//! An [`Executor`] takes a [`Cmd`] and [`ExecOpts`] and gives an [`ExecResult`]. Three rules hold for every
//! executor and are tested on each:
//!
//! - a command that fails is a result; only a sandbox that fails is an [`Error`];
//! - when a run ends, is cancelled, times out or its handle is dropped, everything it started is dead;
//! - the result says which [`Isolation`] held. What was asked for by name and can't be had is an error.
//!
//! This crate knows no backend: executors live in `exec-local` and its siblings and meet in a [`Registry`].
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
mod report;
mod resolve;
mod result;
mod select;
mod selected;
mod selection;
mod shell;
mod value;

pub use capabilities::{Capabilities, Claim, EngineInfo, Exception};
pub use capture::{Capture, Captured, Collector};
pub use cmd::Cmd;
pub use env::{EnvPolicy, inherited_environment, search_path};
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
pub use report::Report;
pub use resolve::{
    DEFAULT_GRACE, Fences, FileId, NOBODY, Plan, PlannedMount, accept_build_files, check_build_files,
    could_be_a_commands,
};
pub use result::{Denial, Ended, ExecResult, LimitHit, Outcome, Status, Usage};
pub use select::select;
pub use selection::{Availability, Because, Candidate, PassedOver, Request, Selection};
pub use shell::ShellCommandAdapter;
pub use value::{
    Access, ByteSize, Cpus, Gpus, MountSpec, Network, ParseValueError, Signal, WindowSize, parse_duration,
};
