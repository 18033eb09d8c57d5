//! Has the backends do what only their engines can do.

use std::collections::{BTreeMap, BTreeSet};

use exec_cell::{Left, Leftovers, Removal};
use exec_control::{CellRecord, Place, StateDir, SweepMode};
use futures_util::future::join_all;

use crate::Backends;

/// Addresses of engines, by backend name.
pub(super) type Addresses = BTreeMap<String, BTreeSet<String>>;

/// Removes the containers of these cells, whose processes are already dead if this machine could see them.
pub(super) async fn remove(backends: &Backends, cells: &[CellRecord]) -> Removal {
    let (by_backend, left) = by_backend(backends, cells.to_vec());
    let removals = backends.engines().filter_map(|(name, engines)| {
        let cells = by_backend.get(name)?;
        Some(async move { engines.remove(cells).await })
    });
    let mut all = Removal { gone: Vec::new(), left };
    join_all(removals).await.into_iter().for_each(|one| all.add(one));
    all
}

/// Removes containers that carry this directory's label but are not in its records.
pub(super) async fn remove_strays(backends: &Backends, state: &StateDir, known: &Addresses) -> Removal {
    let none = BTreeSet::new();
    let removals = backends.engines().map(|(name, engines)| {
        let addresses = known.get(name).unwrap_or(&none);
        async move { engines.remove_strays(state, addresses).await }
    });
    let mut all = Removal::default();
    join_all(removals).await.into_iter().for_each(|one| all.add(one));
    all
}

/// Removes what dead owners left on engines, or only lists it. `dead` are their cells according to the records.
pub(super) async fn clean(backends: &Backends, dead: Vec<CellRecord>, mode: SweepMode) -> Leftovers {
    let (mut by_backend, left) = by_backend(backends, dead);
    let mut all = Leftovers { left, ..Leftovers::default() };
    for (name, engines) in backends.engines() {
        all.add(engines.clean(by_backend.remove(name).unwrap_or_default(), mode).await);
    }
    all
}

/// Groups cells in containers by backend. Those of an unregistered backend are reported as left.
fn by_backend(backends: &Backends, cells: Vec<CellRecord>) -> (BTreeMap<String, Vec<CellRecord>>, Vec<Left>) {
    let known: BTreeSet<&str> = backends.engines().map(|(name, _)| name).collect();
    let (mut by_backend, mut left) = (BTreeMap::<String, Vec<CellRecord>>::new(), Vec::new());
    for cell in cells {
        let Some(Place::Container { same_kernel, .. }) = cell.place else { continue };
        if known.contains(cell.backend.as_str()) {
            by_backend.entry(cell.backend.clone()).or_default().push(cell);
        } else {
            left.push(Left {
                what: format!("container {}", cell.name),
                why: format!("the backend `{}` is not registered here", cell.backend),
                may_live: !same_kernel,
            });
        }
    }
    (by_backend, left)
}

#[cfg(test)]
mod tests;
