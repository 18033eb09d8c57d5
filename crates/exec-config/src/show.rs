//! Every effective value with its origin, for people and programs.

use exec_core::{DEFAULT_GRACE, Limit, Machine, User};
use serde::Serialize;

use crate::config::Config;
use crate::key::KEYS;
use crate::layer::{Engine, Entry, Layer, Scope};
use crate::setting::{Setting, Variable};
use crate::settings::Settings;
use crate::values::{Sandbox, Words, WorkspaceAccess};

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
    /// All effective values in the order of the keys, then those of single sandboxes, then the ignored ones.
    pub fn rows(&self, machine: Machine) -> Vec<Row> {
        let effective = effective(&self.layers);
        let mut rows = Vec::new();
        for key in &KEYS {
            let given = effective.iter().filter(|entry| entry.scope == Scope::Everywhere);
            let given: Vec<Row> =
                given.filter(|entry| entry.setting.key() == key.name).map(|entry| row(entry, true)).collect();
            if given.is_empty() {
                rows.push(default(key.name, &self.settings(Engine::Local), machine));
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
        let layer: Vec<Entry> = layer.iter().flat_map(single).collect();
        effective.retain(|old| !layer.iter().any(|new| replaces(new, old)));
        effective.extend(layer);
    }
    effective
}

/// Splits a list of values that add up.
fn single(entry: &Entry) -> Vec<Entry> {
    let each = |setting| Entry { setting, ..entry.clone() };
    match &entry.setting {
        Setting::Env(all) => all.iter().map(|one| each(Setting::Env(vec![one.clone()]))).collect(),
        Setting::Mounts(all) => all.iter().map(|one| each(Setting::Mounts(vec![one.clone()]))).collect(),
        _ => vec![entry.clone()],
    }
}

fn replaces(new: &Entry, old: &Entry) -> bool {
    let same = match (&new.setting, &old.setting) {
        (Setting::Env(new), Setting::Env(old)) => names(new) == names(old),
        (Setting::Mounts(new), Setting::Mounts(old)) => {
            new.iter().map(|mount| &mount.target).eq(old.iter().map(|mount| &mount.target))
        }
        (new, old) => new.key() == old.key() || (new.is_about_writing() && old.is_about_writing()),
    };
    same && (new.scope == Scope::Everywhere || new.scope == old.scope)
}

fn names(variables: &[Variable]) -> Vec<&std::ffi::OsString> {
    variables.iter().map(|variable| &variable.name).collect()
}

/// The value of a key that is not set.
fn default(key: &'static str, settings: &Settings, machine: Machine) -> Row {
    let limits = settings.limits.resolve(machine);
    let preset = format!("preset {}", settings.limits.preset.word());
    let nothing = "-".to_owned();
    let limited =
        |setting: Option<Setting>| setting.map_or_else(|| "unlimited".to_owned(), |s| s.to_string());
    let (value, from) = match key {
        "executor" => (Sandbox::Auto.to_string(), None),
        "no_fallback" | "best_effort_limits" => (false.to_string(), None),
        "image" => ("host".to_owned(), None),
        "network" | "gpus" => ("none".to_owned(), None),
        "user" => (Setting::User(User::Auto).to_string(), None),
        "workspace_mode" if settings.write_paths.is_empty() => (WorkspaceAccess::Rw.word().to_owned(), None),
        "workspace_mode" => (WorkspaceAccess::Ro.word().to_owned(), Some("write_paths".to_owned())),
        "preset" => ("default".to_owned(), None),
        "memory" => (limited(limits.memory.map(|size| Setting::Memory(Limit::Exactly(size)))), Some(preset)),
        "cpus" => (limited(limits.cpus.map(|cpus| Setting::Cpus(Limit::Exactly(cpus)))), Some(preset)),
        "pids" => (limited(limits.pids.map(|count| Setting::Pids(Limit::Exactly(count)))), Some(preset)),
        "tmp_size" => (limits.tmp_size.to_string(), Some(preset)),
        "timeout" => {
            (limited(limits.timeout.map(|time| Setting::Timeout(Limit::Exactly(time)))), Some(preset))
        }
        "grace" => (Setting::Grace(DEFAULT_GRACE).to_string(), None),
        "open_files" | "idle_timeout" | "max_output" => ("unlimited".to_owned(), None),
        _ => (nothing, None),
    };
    Row { key: key.to_owned(), value, from: from.unwrap_or_else(|| "default".to_owned()), counts: true }
}
