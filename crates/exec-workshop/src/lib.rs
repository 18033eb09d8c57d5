//! Workshops: one sandbox, and the workers that share it.
//!
//! ```yaml
//! name: payments
//! isolation: docker            # or: process
//! container:
//!   image: python:3.12-slim
//!   network: none
//!   mounts: ["./fixtures:/fixtures:ro"]
//!   resources: {memory: 2G, cpu: 1}
//! workers:
//!   - builder                  # workers/builder.md
//!   - reviewers/strict.md
//! ```
//!
//! A worker is a file whose front matter describes it: `name`, `description`, `allowed-tools`, `delegates-to`. All
//! mistakes in all these files are reported at once, each with its file and line. This crate only reads: it runs
//! nothing.

mod read;
mod table;
mod worker;
mod workshop;

pub use read::load;
pub use worker::{Allowed, Worker};
pub use workshop::{Isolation, Workshop};
