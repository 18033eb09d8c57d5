//! The conformance cases that every executor passes, and the harness that runs them.
//!
//! The cases check the contract of [`Executor`](exec_core::Executor) from outside: status and output, stopping and what
//! survives it, limits, isolation, attacks and faults. They know no backend, so that a third party's executor is
//! tested like our own. `examples/tests/custom_backend.rs` is a complete test.
//!
//! # Usage
//!
//! A backend's crate has one test target without the usual harness:
//!
//! ```toml
//! [dev-dependencies]
//! exec-testkit = { path = "…/crates/exec-testkit" }
//!
//! [[test]]
//! name = "conformance"
//! harness = false
//! ```
//!
//! Its `main` makes the executors to test, one [`Subject`] for every configuration that can behave differently:
//!
//! ```no_run
//! # use std::process::ExitCode;
//! use exec_testkit::Subject;
//!
//! fn main() -> ExitCode {
//!     exec_testkit::main(async || {
//!         let executor = Err("the engine is not installed".to_owned());
//!         vec![Subject { label: "microvm-small".into(), engine: "microvm", executor }]
//!     })
//! }
//! ```
//!
//! `cargo test --test conformance -- stop` runs the cases whose names contain `stop`. The cases run as whichever user
//! starts them; most of what can go wrong with a sandbox depends on that user, so run them as root and as another.
//!
//! # Results
//!
//! Every case is listed for every executor. A case whose executor is missing, or does not claim the property, is listed
//! as ignored with the reason. `EXEC_TEST_REQUIRE=local,docker,local:memory_limit` turns a missing executor or claim into
//! a failure. A property that a backend can't hold is left out of its
//! [`Capabilities`](exec_core::Capabilities): a claim it does not make, or an exception it names.
//!
//! # Requirements
//!
//! Linux, and what a build of this workspace needs: the cases run a static program inside the cells, which the build
//! script compiles.
#![cfg(target_os = "linux")]

mod case;
mod cases;
mod check;
mod ctx;
mod give_away;
mod harness;
mod image;
mod orchestrator;
mod outside;
mod probe;
mod processes;
mod reexec;
mod repository;
mod stream;
mod subject;
mod suite;
mod took;

pub use case::{Case, CaseFuture, Need, Skip};
pub use ctx::Ctx;
pub use give_away::give_away;
pub use harness::main;
pub use image::odd_image;
pub use subject::Subject;
pub use suite::{EngineTest, need, suite};
