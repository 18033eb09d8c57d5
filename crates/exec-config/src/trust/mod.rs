//! Decides which of a project's settings count before a person has reviewed them (A38).
//!
//! Agents write in the workspace, so its configuration may be an agent's work. Settings that tighten the sandbox
//! count anyway; settings that loosen anything, on any backend the command could run on, wait for `agentctl config
//! trust`.

mod record;

use exec_core::Machine;

use crate::backend::Backend;
use crate::layer::{Entry, Layer};
use crate::settings::Settings;

pub(crate) use record::Record;

/// A project's layer between those below and those above it.
pub(crate) struct Between<'a> {
    pub(crate) below: &'a [Layer],
    pub(crate) above: &'a [Layer],
    pub(crate) backends: &'a [Backend],
    pub(crate) machine: Machine,
}

/// An untrusted layer, split into effective and ignored settings.
pub(crate) struct Admitted {
    pub(crate) counts: Layer,
    pub(crate) ignored: Layer,
}

impl Between<'_> {
    /// Admits one setting after the other, as long as the outcome is not looser than without the layer as a whole.
    /// Comparing outcomes rather than settings prevents two settings from achieving together what neither may alone.
    pub(crate) fn admit(&self, layer: Layer) -> Admitted {
        let without = self.outcome(&Layer::new());
        let mut admitted = Admitted { counts: Layer::new(), ignored: Layer::new() };
        for entry in layer {
            let candidate = with(&admitted.counts, &entry);
            let outcome = self.outcome(&candidate);
            let looser = without.iter().zip(&outcome).any(|(a, b)| b.is_looser_than(a, self.machine));
            if looser { admitted.ignored.push(entry) } else { admitted.counts = candidate }
        }
        admitted
    }

    fn outcome(&self, layer: &Layer) -> Vec<Settings> {
        let layers = || self.below.iter().chain([layer]).chain(self.above);
        let backends = self.backends.iter().map(|backend| Some(backend.name));
        backends.chain([None]).map(|backend| Settings::merge(layers(), backend)).collect()
    }
}

fn with(layer: &Layer, entry: &Entry) -> Layer {
    layer.iter().chain([entry]).cloned().collect()
}

#[cfg(test)]
mod tests;
