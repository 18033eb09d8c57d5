//! Generates the image that a project is developed and tested in.
//!
//! Three steps, and only the first one reads the disk: [`Project::read`] collects the files that describe the project
//! in a [`Tree`], [`Plan::of`] decides what the image needs, and [`Plan::dockerfile`] and [`Plan::dockerignore`]
//! render it. The same tree gives the same bytes.
//!
//! The image is for working on the project in a sandbox, not for shipping it: it has compilers, package managers and
//! dependencies, but none of the project's own sources. These come with the workspace.
//!
//! ```
//! use exec_bootstrap::{Plan, Tree, Wishes};
//!
//! let tree = Tree::of_texts([("go.mod", "module example.com/hello\n\ngo 1.22\n")]);
//! let plan = Plan::of(&tree, &Wishes::default())?;
//! assert!(plan.dockerfile().contains("FROM golang:1.22-bookworm"));
//! # Ok::<(), exec_core::Error>(())
//! ```

mod agents;
mod app;
mod compose;
mod detect;
mod disk;
mod document;
mod files;
mod header;
mod ignore;
mod known;
mod libraries;
mod part;
mod plan;
mod project;
mod range;
mod read;
mod reason;
mod remembered;
mod render;
mod scripts;
mod tree;
mod version;
mod wanted;

pub use agents::AgentCli;
pub use disk::{Existing, Outcome};
pub use files::{DOCKERFILE, DOCKERIGNORE, File, Mode};
pub use header::Standing;
pub use plan::{Plan, Scope, Wishes};
pub use project::Project;
pub use reason::Reason;
pub use remembered::Remembered;
pub use tree::{Content, Tree};
