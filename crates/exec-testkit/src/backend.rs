//! What is tested, and whether it may be missing.

use std::sync::Arc;

use exec_core::Executor;

/// An executor under test.
#[derive(Debug, Clone)]
pub struct Backend {
    /// What the cases' names begin with, such as `local-namespaces`.
    pub label: String,
    /// The engine it needs, as `EXEC_TEST_REQUIRE` names it: `local`, `docker` or `podman`.
    pub engine: &'static str,
    /// The executor, or why there is none.
    pub executor: Result<Arc<dyn Executor>, String>,
}

/// The engines that may not be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Requirement {
    engines: Vec<String>,
}

impl Requirement {
    /// Reads a list like `local,docker`.
    pub(crate) fn parse(list: &str) -> Self {
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        Self { engines: names.map(str::to_owned).collect() }
    }

    /// Reads `EXEC_TEST_REQUIRE`.
    pub(crate) fn from_env() -> Self {
        std::env::var("EXEC_TEST_REQUIRE").map(|list| Self::parse(&list)).unwrap_or_default()
    }

    /// Whether this engine may not be missing.
    pub(crate) fn names(&self, engine: &str) -> bool {
        self.engines.iter().any(|name| name == engine)
    }
}
