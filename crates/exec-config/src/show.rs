//! Every effective value with its origin, for people and programs.

use exec_core::Machine;
use serde::Serialize;

use crate::config::Config;
use crate::layer::{Entry, Layer, Scope};
use crate::options::{OPTIONS, Unset};
use crate::settings::Settings;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its key, as in a file.
    pub key: String,
    /// The value, as written in a file.
    pub value: String,
    /// A file with line and column, a variable, an option, a preset or `default`.
    pub from: String,
    /// Whether it is effective; if not, it is in a file that is not trusted.
    pub counts: bool,
}

impl Config {
    /// All effective values in the order of the options, then those of single backends, then the ignored ones.
    pub fn rows(&self, machine: Machine) -> Vec<Row> {
        let effective = effective(&self.layers);
        let mut rows = Vec::new();
        let settings = Settings::merge(&self.layers, None);
        for option in &OPTIONS {
            let given = effective.iter().filter(|entry| entry.scope == Scope::Everywhere);
            let given: Vec<Row> = given
                .filter(|entry| entry.setting.name() == option.name)
                .map(|entry| row(entry, true))
                .collect();
            if given.is_empty() {
                let Unset { value, from } = (option.unset)(&settings, machine);
                let from = from.unwrap_or_else(|| "default".to_owned());
                rows.push(Row { key: option.name.to_owned(), value, from, counts: true });
            }
            rows.extend(given);
        }
        rows.extend(
            effective.iter().filter(|entry| entry.scope != Scope::Everywhere).map(|entry| row(entry, true)),
        );
        rows.extend(self.ignored.iter().map(|entry| row(entry, false)));
        rows
    }
}

fn row(entry: &Entry, counts: bool) -> Row {
    Row { key: entry.key(), value: entry.value(), from: entry.origin.to_string(), counts }
}

/// The settings that no higher layer replaces, one for each variable and mount.
fn effective(layers: &[Layer]) -> Vec<Entry> {
    let mut effective: Vec<Entry> = Vec::new();
    for layer in layers {
        let parts = |entry: &Entry| {
            entry
                .setting
                .parts()
                .into_iter()
                .map(|setting| Entry { setting, ..entry.clone() })
                .collect::<Vec<_>>()
        };
        let layer: Vec<Entry> = layer.iter().flat_map(parts).collect();
        effective.retain(|old| !layer.iter().any(|new| replaces(new, old)));
        effective.extend(layer);
    }
    effective
}

fn replaces(new: &Entry, old: &Entry) -> bool {
    new.setting.slot() == old.setting.slot() && (new.scope == Scope::Everywhere || new.scope == old.scope)
}
