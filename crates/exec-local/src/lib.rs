//! Runs commands on this machine: [`LocalExec`].
//!
//! On Linux a cell is a set of namespaces with its own file system (a read-only view of the system's
//! directories and the user's toolchains, the workspace, private `/tmp`, `/run` and home), made by
//! `exec-init` without any helper program installed, as root or as an ordinary user. Where the host forbids
//! namespaces, a supervisor that inherits every orphan replaces them, Landlock restricts what it can, and the
//! result reports this. On other systems there is only a process group, and the result reports that.
//!
//! ```no_run
//! use exec_core::{Cmd, ExecOpts, Executor};
//! use exec_local::{LocalConfig, LocalExec};
//!
//! # async fn example() -> exec_core::Result<()> {
//! let executor = LocalExec::new(LocalConfig::default()).await?;
//! let result = executor.run(&Cmd::shell("make test"), &ExecOpts::in_workspace("/srv/project")).await?;
//! assert!(result.success(), "{}", result.stderr.text());
//! # Ok(())
//! # }
//! ```

mod backend;
mod config;
mod executor;
#[cfg(target_os = "linux")]
mod isolation;
#[cfg(target_os = "linux")]
mod jail;
#[cfg(target_os = "linux")]
mod maker;
mod os;
#[cfg(target_os = "linux")]
mod secrets;

pub use config::{LocalConfig, WallsChoice};
pub use executor::LocalExec;
