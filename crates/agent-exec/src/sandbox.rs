//! An executor that was chosen, with the reasons.

use std::sync::Arc;

use exec_core::{Executor, Selection, Wraps};

use crate::Evidence;

/// An executor that was chosen. It is one itself; clones share it.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) selection: Arc<Selection>,
    pub(crate) evidence: Arc<[Evidence]>,
}

impl Sandbox {
    /// The executor, to pass on.
    pub fn executor(&self) -> Arc<dyn Executor> {
        Arc::clone(&self.executor)
    }

    /// What was asked for, what was taken, and why not the others. Every result says the same.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// What was tried, what answered and how long it took, most preferred first.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }
}

impl Wraps for Sandbox {
    fn inner(&self) -> &dyn Executor {
        &*self.executor
    }
}
