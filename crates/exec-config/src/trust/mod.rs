//! Which of a project's settings count before a person has looked at them (A38).
//!
//! The workspace is where agents write, so its configuration may be an agent's work. What makes the sandbox tighter
//! counts all the same; what loosens anything, on any sandbox it could be run in, waits for `agentctl config trust`.

mod looser;
mod record;

use exec_core::Machine;

use crate::layer::{Engine, Entry, Layer};
use crate::settings::Settings;

pub(crate) use record::Record;

/// A project's layer between those below and those above it.
pub(crate) struct Between<'a> {
    pub(crate) below: &'a [Layer],
    pub(crate) above: &'a [Layer],
    pub(crate) machine: Machine,
}

/// What of a layer that nobody trusts counts, and what does not.
pub(crate) struct Admitted {
    pub(crate) counts: Layer,
    pub(crate) ignored: Layer,
}

impl Between<'_> {
    /// Takes one setting after the other, as long as nothing is looser than without the layer as a whole. It is the outcome
    /// that is compared, not the setting: no two settings can do together what none of them may do alone.
    pub(crate) fn admit(&self, layer: Layer) -> Admitted {
        let without = self.outcome(&Layer::new());
        let mut admitted = Admitted { counts: Layer::new(), ignored: Layer::new() };
        for entry in layer {
            let candidate = with(&admitted.counts, &entry);
            let outcome = self.outcome(&candidate);
            let looser = without.iter().zip(&outcome).any(|(a, b)| looser::is_looser(a, b, self.machine));
            if looser { admitted.ignored.push(entry) } else { admitted.counts = candidate }
        }
        admitted
    }

    fn outcome(&self, layer: &Layer) -> [Settings; 3] {
        Engine::ALL.map(|engine| Settings::merge(self.below.iter().chain([layer]).chain(self.above), engine))
    }
}

fn with(layer: &Layer, entry: &Entry) -> Layer {
    layer.iter().chain([entry]).cloned().collect()
}

#[cfg(test)]
mod tests;
