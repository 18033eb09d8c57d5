//! Decides whether settings allow a command more than others did. In doubt they do.

use std::path::{Component, Path};

use exec_core::{
    Access, DEFAULT_GRACE, Gpus, LimitPolicy, Machine, MountSpec, Network, Preset, ResolvedLimits,
    WorkspaceMode,
};

use crate::settings::Settings;

/// Whether `after` allows anything that `before` prevented.
///
/// | setting | looser when |
/// |---|---|
/// | executor | another one, or a named one in place of `auto`: each sandbox has settings of its own, which may differ |
/// | no fallback, minimum isolation | removed or lowered |
/// | image, user | another |
/// | network, graphics processors | more |
/// | workspace | more of it can be written |
/// | mounts | a new one, another source, or writable |
/// | variables | a new one, or another value: they choose what programs do, and names alone pass secrets on |
/// | limits, time-outs, grace | larger, lifted, or no longer required |
/// | preset | no longer `strict`, which has more to it than limits |
pub(super) fn is_looser(before: &Settings, after: &Settings, machine: Machine) -> bool {
    weaker_sandbox(before, after)
        || after.image != before.image
        || after.user != before.user
        || gpus(after) > gpus(before)
        || network(after) > network(before)
        || more_written(&before.workspace_mode(), &after.workspace_mode())
        || !after.mounts.iter().all(|mount| allowed(mount, &before.mounts))
        || !after.env.iter().all(|(name, value)| before.env.get(name) == Some(value))
        || larger_limits(before, after, machine)
}

fn weaker_sandbox(before: &Settings, after: &Settings) -> bool {
    after.executor != before.executor
        || (before.no_fallback && !after.no_fallback)
        || after.min_isolation < before.min_isolation
}

fn gpus(settings: &Settings) -> u32 {
    match settings.gpus {
        None => 0,
        Some(Gpus::Count(count)) => count.into(),
        Some(Gpus::All) => u32::MAX,
    }
}

fn network(settings: &Settings) -> u8 {
    match settings.network {
        None | Some(Network::None) => 0,
        Some(Network::Bridge) => 1,
        Some(_) => 2,
    }
}

fn more_written(before: &WorkspaceMode, after: &WorkspaceMode) -> bool {
    match (before, after) {
        (WorkspaceMode::ReadWrite, _) => false,
        (WorkspaceMode::ReadOnly { .. }, WorkspaceMode::ReadWrite) => true,
        (WorkspaceMode::ReadOnly { writable: before }, WorkspaceMode::ReadOnly { writable: after }) => {
            !after.iter().all(|path| before.iter().any(|known| lies_in(path, known)))
        }
    }
}

/// A path with `..` is never inside another by its text alone.
fn lies_in(path: &Path, known: &Path) -> bool {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    path == known || (!climbs && path.starts_with(known))
}

fn allowed(mount: &MountSpec, before: &[MountSpec]) -> bool {
    before.iter().any(|known| {
        let same = known.source == mount.source && known.target == mount.target;
        same && (mount.access == Access::ReadOnly || known.access == Access::ReadWrite)
    })
}

fn larger_limits(before: &Settings, after: &Settings, machine: Machine) -> bool {
    let (a, b) = (before.limits.resolve(machine), after.limits.resolve(machine));
    let (policy, no_policy) = (LimitPolicy::Require, LimitPolicy::Report);
    larger_resolved(&a, &b)
        || larger(before.idle_timeout, after.idle_timeout)
        || after.grace.unwrap_or(DEFAULT_GRACE) > before.grace.unwrap_or(DEFAULT_GRACE)
        || (before.limits.policy, after.limits.policy) == (policy, no_policy)
        || (before.limits.preset == Preset::Strict && after.limits.preset != Preset::Strict)
}

fn larger_resolved(before: &ResolvedLimits, after: &ResolvedLimits) -> bool {
    larger(before.memory, after.memory)
        || larger(before.cpus, after.cpus)
        || larger(before.pids, after.pids)
        || larger(before.open_files, after.open_files)
        || larger(before.file_size, after.file_size)
        || larger(Some(before.tmp_size), Some(after.tmp_size))
        || larger(Some(before.run_size), Some(after.run_size))
        || larger(before.output, after.output)
        || larger(before.timeout, after.timeout)
        || !before.required.iter().all(|name| after.required.contains(name))
}

/// No limit is the largest limit.
fn larger<T: PartialOrd>(before: Option<T>, after: Option<T>) -> bool {
    match (before, after) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(before), Some(after)) => after > before,
    }
}
