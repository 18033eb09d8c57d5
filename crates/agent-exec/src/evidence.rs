//! The results of looking for executors, for users who ask why.

use std::time::Duration;

use exec_core::{Detected, EngineInfo, IsolationLevel, Remedy};
use serde::{Serialize, Serializer};

/// The result of looking for one executor, with its name.
#[derive(Debug, Clone, Serialize)]
pub struct Evidence {
    /// Its name.
    pub executor: String,
    /// The result.
    #[serde(flatten)]
    pub found: Found,
    /// How long the search took.
    #[serde(rename = "took_ms", serialize_with = "as_millis")]
    pub took: Duration,
}

/// The result of looking for an executor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum Found {
    /// It works.
    Works {
        /// The isolation level of its cells.
        isolation: IsolationLevel,
        /// The engine that answered, and its address.
        engine: Option<EngineInfo>,
    },
    /// It does not work.
    Missing {
        /// What was tried, and the result.
        reason: String,
        /// How to make it work.
        remedy: Remedy,
    },
    /// It was not looked for: a better one was found, or it was not asked for.
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
