//! The executors under test, and which of them are required.

use std::sync::Arc;

use exec_core::{Claim, Executor};

/// An executor under test.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The prefix of the cases' names, such as `local-namespaces`.
    pub label: String,
    /// What `EXEC_TEST_REQUIRE` calls it, mostly the backend's name: `local`, `docker`.
    pub engine: &'static str,
    /// The executor, or why it is missing.
    pub executor: Result<Arc<dyn Executor>, String>,
}

/// The engines that must be present, and the claims they must make.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Requirement {
    engines: Vec<String>,
    /// An engine and the name of a claim.
    claims: Vec<(String, String)>,
}

impl Requirement {
    /// Reads a list like `local,docker,local:memory_limit`.
    pub(crate) fn parse(list: &str) -> Self {
        let mut required = Self::default();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name.split_once(':') {
                Some((engine, claim)) => required.claims.push((engine.to_owned(), claim.to_owned())),
                None => required.engines.push(name.to_owned()),
            }
        }
        required
    }

    /// Reads `EXEC_TEST_REQUIRE`.
    pub(crate) fn from_env() -> Self {
        std::env::var("EXEC_TEST_REQUIRE").map(|list| Self::parse(&list)).unwrap_or_default()
    }

    /// The claims that this engine has to make.
    pub(crate) fn claims_of(&self, engine: &str) -> impl Iterator<Item = &str> {
        self.claims.iter().filter(move |(name, _)| name == engine).map(|(_, claim)| claim.as_str())
    }

    /// Whether this engine must be present.
    pub(crate) fn names(&self, engine: &str) -> bool {
        self.engines.iter().any(|name| name == engine)
    }
}

/// The name of a claim in lists and results: `memory_limit`.
pub(crate) fn claim_name(claim: Claim) -> String {
    let mut name = String::new();
    for letter in format!("{claim:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}
