//! The end of a run, as its caller and the records get it.

use std::sync::Arc;
use std::time::Duration;

use exec_control::RunNote;
use exec_core::{Outcome, Usage};
use tokio::time::Instant;

use crate::cell::{Standing, death_error};
use crate::runs::{Account, Death};
use crate::verdict::{RunLimits, judge};

/// The conditions of a run, by which its end is judged.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) standing: Standing,
    pub(crate) limits: RunLimits,
    pub(crate) begun: Instant,
    /// See [`Outcome::reopened`].
    pub(crate) reopened: Option<&'static str>,
}

impl Terms {
    pub(crate) fn outcome(&self, account: &Account) -> Outcome {
        let (ended, status, limits_hit) = judge(account.exited, &account.closed, &self.limits);
        let closed = &account.closed;
        Outcome {
            ended,
            status,
            duration: account.at.duration_since(self.begun),
            usage: Usage {
                cpu: Duration::from_micros(closed.user_us.saturating_add(closed.system_us)),
                peak_memory: closed.peak_memory,
            },
            executor: self.standing.backend.to_string(),
            selection: None,
            isolation: Arc::clone(&self.standing.isolation),
            limits_hit,
            denials: Vec::new(),
            survivors: closed.survivors.clone(),
            reopened: self.reopened.map(str::to_owned),
        }
    }
}

/// The note of a run, to be finished at its end.
#[derive(Debug)]
pub(crate) struct Closing {
    pub(crate) terms: Arc<Terms>,
    pub(crate) note: RunNote,
}

impl Closing {
    pub(crate) fn write(self, ending: &Result<Arc<Account>, Death>) {
        match ending {
            Ok(account) => self.note.ended(&self.terms.outcome(account), account.written),
            Err(death) => self.note.failed(&death_error(death, &self.terms.standing.backend, "run")),
        }
    }
}
