//! What looking for executors came to, for people who ask why.

use std::time::Duration;

use exec_core::{Detected, EngineInfo, IsolationLevel, Remedy};
use serde::{Serialize, Serializer};

/// What was found out about one executor.
#[derive(Debug, Clone, Serialize)]
pub struct Evidence {
    /// Its name.
    pub executor: String,
    /// What was found.
    #[serde(flatten)]
    pub found: Found,
    /// How long that took.
    #[serde(rename = "took_ms", serialize_with = "as_millis")]
    pub took: Duration,
}

/// What looking for an executor came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum Found {
    /// It works.
    Works {
        /// The wall its cells have.
        isolation: IsolationLevel,
        /// The engine that answered, and where.
        engine: Option<EngineInfo>,
    },
    /// It does not.
    Missing {
        /// What was tried and what came of it.
        reason: String,
        /// What would make it work.
        remedy: Remedy,
    },
    /// Nobody looked: a better one was there, or it was not asked for.
    NotTried,
}

impl Evidence {
    pub(crate) fn of(executor: &str, detected: &Detected, took: Duration) -> Self {
        let found = match detected {
            Detected::Ready(executor) => {
                let has = executor.capabilities();
                Found::Works { isolation: has.level, engine: has.engine.clone() }
            }
            Detected::Missing { reason, remedy } => {
                Found::Missing { reason: reason.clone(), remedy: remedy.clone() }
            }
        };
        Self { executor: executor.to_owned(), found, took }
    }

    pub(crate) fn not_tried(executor: &str) -> Self {
        Self { executor: executor.to_owned(), found: Found::NotTried, took: Duration::ZERO }
    }
}

fn as_millis<S: Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(took.as_secs_f64() * 1e3)
}
