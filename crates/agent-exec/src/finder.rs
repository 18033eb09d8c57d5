//! Answers that are kept for a while, so that asking for a sandbox before every run costs nothing.

use std::sync::LazyLock;
use std::time::Duration;

use exec_core::{Executor, Result, Selection};
use tokio::runtime::{Handle, Id};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::{Builder, Sandbox};

/// The best there was is looked for again after this long.
const BEST: Duration = Duration::from_secs(60);

/// A second best sooner: somebody may have followed the remedy meanwhile.
const SECOND_BEST: Duration = Duration::from_secs(5);

/// Finds a sandbox and gives the same one, with its sessions and what it keeps ready. Whether it is still the best is looked
/// at again after a minute, and after five seconds if something better was passed over.
#[derive(Debug)]
pub struct Finder {
    builder: Builder,
    kept: Mutex<Option<Kept>>,
}

#[derive(Debug)]
struct Kept {
    sandbox: Sandbox,
    until: Instant,
    /// Executors live on the runtime that made them.
    runtime: Id,
}

impl Finder {
    /// Finds what this builder says.
    pub fn new(builder: Builder) -> Self {
        Self { builder, kept: Mutex::const_new(None) }
    }

    /// The sandbox. Those who ask at the same time wait for one answer. Failures are not kept.
    pub async fn find(&self) -> Result<Sandbox> {
        let mut kept = self.kept.lock().await;
        let runtime = Handle::current().id();
        let known = kept.as_ref().filter(|known| known.runtime == runtime);
        if let Some(known) = known.filter(|known| Instant::now() < known.until) {
            return Ok(known.sandbox.clone());
        }
        let old = known.map(|known| known.sandbox.clone());
        let found = self.builder.build().await.inspect_err(|_| *kept = None)?;
        let until = Instant::now() + lifetime(found.selection());
        let sandbox = match old {
            Some(old) if is_as_good(&old, &found).await => old,
            _ => found,
        };
        *kept = Some(Kept { sandbox: sandbox.clone(), until, runtime });
        Ok(sandbox)
    }
}

/// Whether the old one is the same executor and still works. Then it stays: a new one would know none of its sessions.
async fn is_as_good(old: &Sandbox, new: &Sandbox) -> bool {
    old.name() == new.name() && old.capabilities() == new.capabilities() && old.health().await.is_ok()
}

fn lifetime(selection: &Selection) -> Duration {
    if selection.is_fallback() { SECOND_BEST } else { BEST }
}

/// The best sandbox there is: Docker, else Podman, else this machine's own namespaces. The answer is shared by the whole
/// process, see [`Finder`].
///
/// What was found has made a cell with the current directory in it, read-only, where that can be a workspace: an engine that
/// answers and can't run anything is passed over.
///
/// Called within a Tokio runtime, as everything here.
pub async fn auto() -> Result<Sandbox> {
    static AUTO: LazyLock<Finder> = LazyLock::new(|| Finder::new(Builder::default().tried_here()));
    AUTO.find().await
}

#[cfg(test)]
mod tests {
    use exec_core::{Because, PassedOver};

    use super::*;

    /// R60: sessions and warm cells outlive the answer.
    #[cfg(feature = "local")]
    #[tokio::test]
    async fn the_same_sandbox_stays_when_it_is_looked_at_again() {
        let finder = Finder::new(Builder::default().sandbox("local"));
        let first = finder.find().await.unwrap().executor();
        let expire = async || finder.kept.lock().await.as_mut().unwrap().until = Instant::now();
        expire().await;
        let second = finder.find().await.unwrap().executor();
        assert!(std::sync::Arc::ptr_eq(&first, &second));
    }

    /// R60
    #[test]
    fn a_second_best_answer_is_soon_looked_at_again() {
        let mut selection = Selection {
            requested: "auto".into(),
            name: "local".into(),
            passed_over: Vec::new(),
            overruled: None,
        };
        assert_eq!(lifetime(&selection), BEST);
        let other =
            |because| PassedOver { name: "docker".into(), because, reason: String::new(), remedy: "".into() };
        selection.passed_over = vec![other(Because::RuledOut)];
        assert_eq!(lifetime(&selection), BEST);
        selection.passed_over.push(other(Because::Missing));
        assert_eq!(lifetime(&selection), SECOND_BEST);
    }
}
