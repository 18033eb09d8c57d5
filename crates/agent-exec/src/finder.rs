//! Caches the choice for a while, so that asking for a sandbox before every run costs nothing.

use std::sync::LazyLock;
use std::time::Duration;

use exec_core::{Executor, Result, Selection};
use tokio::runtime::{Handle, Id};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::{Builder, Sandbox};

/// How long the most preferred sandbox stays the answer before the search is repeated.
const BEST: Duration = Duration::from_secs(60);

/// The same for a second best, sooner: the user may have followed the remedy meanwhile.
const SECOND_BEST: Duration = Duration::from_secs(5);

/// Finds a sandbox and returns the same one each time, with its sessions and warm cells. Searches again after a
/// minute, or after five seconds if something better was passed over.
#[derive(Debug)]
pub struct Finder {
    builder: Builder,
    kept: Mutex<Option<Kept>>,
}

#[derive(Debug)]
struct Kept {
    sandbox: Sandbox,
    until: Instant,
    /// Executors live on the runtime that created them.
    runtime: Id,
}

impl Finder {
    /// Creates a finder for this builder's sandbox.
    pub fn new(builder: Builder) -> Self {
        Self { builder, kept: Mutex::const_new(None) }
    }

    /// Returns the sandbox. Concurrent callers wait for one answer. Failures are not cached.
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

/// Whether the old one is the same executor and still works. Then it stays: a new one would lack its sessions.
async fn is_as_good(old: &Sandbox, new: &Sandbox) -> bool {
    old.name() == new.name() && old.capabilities() == new.capabilities() && old.health().await.is_ok()
}

fn lifetime(selection: &Selection) -> Duration {
    if selection.is_fallback() { SECOND_BEST } else { BEST }
}

/// Returns the best available sandbox: Docker, else Podman, else this machine's own namespaces. The whole process
/// shares the answer, see [`Finder`].
///
/// If the current directory can be a workspace, the sandbox has already made a cell with that directory, read-only: an
/// engine that answers but can't run anything is passed over.
///
/// Must be called within a Tokio runtime, like everything here.
pub async fn auto() -> Result<Sandbox> {
    static AUTO: LazyLock<Finder> = LazyLock::new(|| Finder::new(Builder::default().tried_here()));
    AUTO.find().await
}

#[cfg(test)]
mod tests {
    use exec_core::{Because, PassedOver};

    use super::*;

    /// R60: sessions and warm cells outlive the cached answer.
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
