//! One configuration, in TOML, YAML or JSON, from several places.
//!
//! Every value remembers its origin, every mistake is reported with file, line and the nearest valid key, and
//! settings of a project's file that would loosen the sandbox are ignored until a person trusts the file.
//!
//! The crate knows which settings exist and how they combine, not how commands run. It reads through [`HostEnvironment`]
//! and prints nothing.
//!
//! ```no_run
//! use exec_config::{Backend, Config, Here, Wanted};
//!
//! const BACKENDS: [Backend; 1] = [Backend { name: "docker", about: "Docker container", has_images: true }];
//!
//! fn options() -> exec_core::Result<exec_core::ExecOpts> {
//!     let here = Here { backends: &BACKENDS };
//!     let config = Config::load(&here, Wanted { workspace: ".".into(), ..Wanted::default() })?;
//!     config.settings("docker").to_opts(|name| std::env::var_os(name))
//! }
//! ```

mod backend;
mod config;
mod document;
mod environment;
mod exposure;
mod fault;
mod files;
mod format;
mod found;
mod layer;
mod named;
mod nearest;
mod node;
mod options;
mod places;
mod read;
mod schema;
mod settings;
mod shell_word;
mod show;
mod source;
mod surroundings;
mod template;
mod tmpfs;
pub mod tree;
mod trust;
mod write;

pub use backend::Backend;
pub use config::{Config, Wanted};
pub use environment::MCP_TOKEN_VARIABLE;
pub use files::{Trusted, Whose, check, init, project_files, trust, untrust};
pub use format::Format;
pub use layer::{Entry, Origin, Scope};
pub use node::Position;
pub use options::{Arity, Described, Heading, OPTIONS, Setting, Variable, Word, option};
pub use places::project_file_names;
pub use schema::schema;
pub use settings::Settings;
pub use show::Row;
pub use surroundings::{Here, HostEnvironment, Links};
pub use write::Existing;
