//! Records of what runs on this machine, and the means to stop it.
//!
//! Executors record every cell before they create it and every run while it lasts ([`Watch`]), in a small directory
//! owned by this user ([`StateDir`]). With these records any process of the user can list what runs, whichever
//! orchestrator started it; refuse new runs with a latch; end cells from outside, reaching all of their processes
//! and no others ([`end_all`]); and clean up after dead owners. The audit log is written here too.
//!
//! This crate knows processes and control groups, but no engines: the crates that know engines do the engine's part
//! of a container.

mod audit;
mod cgroup_kill;
mod closing;
mod ending;
mod groups;
mod latch;
mod load;
mod lock;
mod members;
mod network;
mod owner;
mod preallocated;
mod process;
mod procfs;
mod record;
mod redact;
mod run;
mod snapshot;
mod state;
mod sweep;
mod target;
mod view;
mod watch;

pub use audit::{AUDIT_VARIABLE, Audit, AuditFile};
pub use ending::{Survivor, ask_all, ask_run, end_all, end_run, is_alive};
pub use exec_files::{AUDIT_FILE_VARIABLE, STATE_DIR_VARIABLE};
pub use latch::Latch;
pub use load::Load;
pub use members::is_named_after;
pub use owner::{Owner, unique};
pub use process::{Process, ProcessState, World, boot_id, machine, namespaces, start_time};
pub use record::{CellRecord, Moment, Place, RunRecord};
pub use run::{Begun, RunNote, Written};
pub use state::StateDir;
pub use sweep::{SweepMode, Swept};
pub use target::{Meant, Target};
pub use view::{CellView, OwnerState, list, look};
pub use watch::{Seat, Watch, cell_name};
