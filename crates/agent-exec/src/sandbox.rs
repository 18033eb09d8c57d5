//! A chosen executor, with the reasons for the choice.

use std::sync::Arc;

use exec_core::{Executor, Selection, Wraps};

use crate::Evidence;

/// A chosen executor. It implements `Executor` itself; clones share it.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) selection: Arc<Selection>,
    pub(crate) evidence: Arc<[Evidence]>,
}

impl Sandbox {
    /// Returns the executor itself.
    pub fn executor(&self) -> Arc<dyn Executor> {
        Arc::clone(&self.executor)
    }

    /// Returns the request, the choice, and the reasons against the others. Every result carries the same.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns what was tried, what answered and how long it took, most preferred first.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }
}

impl Wraps for Sandbox {
    fn inner(&self) -> &dyn Executor {
        &*self.executor
    }
}
