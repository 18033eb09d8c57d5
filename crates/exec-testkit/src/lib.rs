//! The conformance cases that every executor passes, and the harness that runs them.
//!
//! A backend crate has one test target without the usual harness:
//!
//! ```no_run
//! # use std::process::ExitCode;
//! use exec_testkit::Backend;
//!
//! fn main() -> ExitCode {
//!     exec_testkit::main(async || {
//!         let executor = Err("the engine is not installed".to_owned());
//!         vec![Backend { label: "docker".into(), engine: "docker", executor }]
//!     })
//! }
//! ```
//!
//! Every case is listed for every backend. A case whose backend is missing, or does not claim the property,
//! is listed as ignored with the reason; `EXEC_TEST_REQUIRE=local,docker,local:memory_limit` turns a missing
//! backend or claim into a failure.
#![cfg(target_os = "linux")]

mod backend;
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
mod suite;
mod took;

pub use backend::Backend;
pub use case::{Case, CaseFuture, Need, Skip};
pub use ctx::Ctx;
pub use give_away::give_away;
pub use harness::main;
pub use image::odd_image;
pub use suite::{EngineTest, need, suite};
