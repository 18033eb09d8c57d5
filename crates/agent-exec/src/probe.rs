//! Looks for executors in order of preference, and for several at once when one is slow.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use exec_core::{Detected, ErrorKind, Result};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

/// How long the search waits for one probe before it starts the next as well. A working engine has made a container by
/// then, and a search beside it would only slow it down.
const HEAD_START: Duration = Duration::from_secs(1);

/// A way to look for one executor. It has its own time-outs.
pub(crate) struct Probe {
    pub(crate) name: String,
    look: Pin<Box<dyn Future<Output = Result<Detected>> + Send>>,
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Probe").field(&self.name).finish()
    }
}

/// The result of one probe.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) name: String,
    pub(crate) detected: Result<Detected>,
    pub(crate) took: Duration,
}

impl Probe {
    pub(crate) fn new(
        name: impl Into<String>,
        look: impl Future<Output = Result<Detected>> + Send + 'static,
    ) -> Self {
        Self { name: name.into(), look: Box::pin(look) }
    }

    /// Turns a failure into a reason to pass this one over, for a search that has a choice. An invalid request is
    /// invalid everywhere and an emergency stop is in force everywhere: these stay errors.
    pub(crate) fn or_pass_over(self) -> Self {
        let (name, look) = (self.name, self.look);
        Self::new(name, async move {
            look.await.or_else(|error| match error.kind() {
                ErrorKind::InvalidInput | ErrorKind::Stopped => Err(error),
                _ => Ok(Detected::Missing {
                    reason: error.reason(),
                    remedy: error.remedy().cloned().unwrap_or_else(|| "use another sandbox".into()),
                }),
            })
        })
    }

    async fn run(self) -> Finding {
        let begun = Instant::now();
        let detected = self.look.await;
        Finding { name: self.name, detected, took: begun.elapsed() }
    }
}

/// Looks until the findings are `enough`, or complete. Findings count in order of preference only: one with a quick
/// answer does not win over a better one that is still being looked for.
pub(crate) async fn look(probes: Vec<Probe>, enough: impl Fn(&[Finding]) -> bool) -> Vec<Finding> {
    let mut search = Search::new(probes);
    loop {
        search.settle();
        if enough(&search.settled) || search.is_over() {
            return search.settled;
        }
        search.go_on().await;
    }
}

/// A search under way. Dropping it ends the probes that still run.
struct Search {
    left: std::vec::IntoIter<Probe>,
    running: JoinSet<(usize, Finding)>,
    /// The task of each started probe.
    begun: Vec<(Id, String)>,
    latest: Instant,
    latest_is_in: bool,
    /// Answers in order of preference, up to the first gap.
    settled: Vec<Finding>,
    /// Answers behind that gap.
    early: Vec<(usize, Finding)>,
}

impl Search {
    fn new(probes: Vec<Probe>) -> Self {
        Self {
            left: probes.into_iter(),
            running: JoinSet::new(),
            begun: Vec::new(),
            latest: Instant::now(),
            latest_is_in: true,
            settled: Vec::new(),
            early: Vec::new(),
        }
    }

    fn is_over(&self) -> bool {
        self.left.len() == 0 && self.running.is_empty()
    }

    /// Waits for an answer, or starts another probe when it is time to.
    async fn go_on(&mut self) {
        if self.latest_is_in && self.begin_next() {
            return;
        }
        let patient = self.left.len() > 0;
        tokio::select! {
            biased;
            Some(answer) = self.running.join_next() => {
                if let Some((index, finding)) = answer.map_or_else(|error| self.broken(&error), Some) {
                    self.latest_is_in |= index + 1 == self.begun.len();
                    self.early.push((index, finding));
                }
            },
            () = tokio::time::sleep_until(self.latest + HEAD_START), if patient => {
                self.begin_next();
            }
        }
    }

    /// The finding for a probe that panicked: it is passed over. A gap in its place would hold back all behind it.
    fn broken(&self, error: &JoinError) -> Option<(usize, Finding)> {
        let index = self.begun.iter().position(|(task, _)| *task == error.id())?;
        let name = self.begun[index].1.clone();
        let missing = Detected::Missing {
            reason: "looking for it failed in a way that should not happen".to_owned(),
            remedy: "report what was printed as an error of this version, or use another sandbox".into(),
        };
        Some((index, Finding { name, detected: Ok(missing), took: self.latest.elapsed() }))
    }

    fn begin_next(&mut self) -> bool {
        let Some(probe) = self.left.next() else { return false };
        let (index, name) = (self.begun.len(), probe.name.clone());
        tracing::debug!(executor = name, "looking for it");
        let task = self.running.spawn(async move { (index, probe.run().await) });
        self.begun.push((task.id(), name));
        (self.latest, self.latest_is_in) = (Instant::now(), false);
        true
    }

    fn settle(&mut self) {
        while let Some(at) = self.early.iter().position(|(index, _)| *index == self.settled.len()) {
            let (_, finding) = self.early.swap_remove(at);
            tracing::debug!(executor = finding.name, took = ?finding.took, found = ?finding.detected, "found");
            self.settled.push(finding);
        }
    }
}

#[cfg(test)]
mod tests;
