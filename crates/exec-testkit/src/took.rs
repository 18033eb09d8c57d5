//! Prints how long a case took on standard error. A variable turns it on, and `cargo xtask test` sets it.

use std::io::{self, Write};
use std::time::Instant;

const VARIABLE: &str = "EXEC_TEST_TIMES";

/// The case to time.
#[derive(Debug, Clone)]
pub(crate) struct Took(Option<String>);

impl Took {
    pub(crate) fn of(name: &str) -> Self {
        Self(std::env::var_os(VARIABLE).map(|_| name.to_owned()))
    }

    /// Does the work and prints how long it took.
    pub(crate) fn say<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        if let Self(Some(name)) = self {
            // A closed standard error has no reader.
            let _ = writeln!(io::stderr(), "took {:.3} s: {name}", start.elapsed().as_secs_f64());
        }
        done
    }
}
