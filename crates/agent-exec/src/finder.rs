//! Answers that are kept for a while, so that asking for a sandbox before every run costs nothing.

use std::sync::LazyLock;
use std::time::Duration;

use exec_core::{Result, Selection};
use tokio::runtime::{Handle, Id};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::{Builder, Sandbox};

/// The best there was is looked for again after this long.
const BEST: Duration = Duration::from_secs(60);

/// A second best sooner: somebody may have followed the remedy meanwhile.
const SECOND_BEST: Duration = Duration::from_secs(5);

/// Finds a sandbox and gives the same one, with what it keeps ready, until the answer has expired: after a minute, and after
/// five seconds if something better was passed over.
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
        if let Some(known) =
            kept.as_ref().filter(|known| known.runtime == runtime && Instant::now() < known.until)
        {
            return Ok(known.sandbox.clone());
        }
        *kept = None;
        let sandbox = self.builder.build().await?;
        let until = Instant::now() + lifetime(sandbox.selection());
        *kept = Some(Kept { sandbox: sandbox.clone(), until, runtime });
        Ok(sandbox)
    }
}

fn lifetime(selection: &Selection) -> Duration {
    if selection.is_fallback() { SECOND_BEST } else { BEST }
}

/// The best sandbox there is: Docker, else Podman, else this machine's own namespaces. The answer is shared by the whole
/// process, see [`Finder`].
///
/// Called within a Tokio runtime, as everything here.
pub async fn auto() -> Result<Sandbox> {
    static AUTO: LazyLock<Finder> = LazyLock::new(|| Finder::new(Builder::default()));
    AUTO.find().await
}

#[cfg(test)]
mod tests {
    use exec_core::{Because, PassedOver};

    use super::*;

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
        let other = |because| PassedOver {
            name: "docker".into(),
            because,
            reason: String::new(),
            remedy: String::new(),
        };
        selection.passed_over = vec![other(Because::RuledOut)];
        assert_eq!(lifetime(&selection), BEST);
        selection.passed_over.push(other(Because::Missing));
        assert_eq!(lifetime(&selection), SECOND_BEST);
    }
}
