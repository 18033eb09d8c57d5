//! Removes containers of cells, for callers that can't wait long for a hanging engine.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use exec_cell::{Left, Removal};
use exec_control::{CellRecord, Place, StateDir};
use futures_util::future::join_all;
use tokio::time::{Instant, sleep};

use super::EngineInventory;
use crate::{Endpoint, Patience};

const PATIENCE: Patience = Patience {
    greet: Duration::from_secs(1),
    ask: Duration::from_secs(3),
    make: Duration::from_secs(3),
    remove: Duration::from_secs(3),
};

/// An engine removes a container by itself when PID 1 has ended. After this long we request the removal.
const BY_ITSELF: Duration = Duration::from_millis(700);

/// How long the engine may take in total.
const LIMIT: Duration = Duration::from_secs(5);

/// The delay between two checks. It doubles up to the longest, because constant polling would keep the engine busy.
const FIRST_LOOK: Duration = Duration::from_millis(10);
const LONGEST_LOOK: Duration = Duration::from_millis(160);

/// Waits until the containers of these cells are gone, and removes those that stay.
pub(super) async fn remove(backend: &str, cells: &[CellRecord]) -> Removal {
    let mut by_address: BTreeMap<&str, Vec<Container<'_>>> = BTreeMap::new();
    for cell in cells {
        if let Some(Place::Container { id, endpoint, same_kernel }) = &cell.place {
            let container = Container { cell: &cell.name, id, unseen: !same_kernel };
            by_address.entry(endpoint).or_default().push(container);
        }
    }
    let engines = by_address.iter().map(|(address, containers)| async move {
        match open(address, backend).await {
            Ok(inventory) => join_all(containers.iter().map(|one| one.remove(&inventory))).await,
            Err(why) => containers.iter().map(|one| Err(one.left(&why))).collect(),
        }
    });
    let mut removal = Removal::default();
    for outcome in join_all(engines).await.into_iter().flatten() {
        match outcome {
            Ok(cell) => removal.gone.push(cell),
            Err(left) => removal.left.push(left),
        }
    }
    removal
}

/// Removes containers that carry this directory's label and are in none of its records.
pub(super) async fn remove_strays(backend: &str, state: &StateDir, addresses: BTreeSet<String>) -> Removal {
    let one = |address: String| async move {
        // A missing engine has no containers; a hanging one was reported with its cells.
        let Ok(inventory) = open(&address, backend).await else { return Removal::default() };
        let mut removal = Removal::default();
        for stray in inventory.written_down_in(state).await.unwrap_or_default() {
            match inventory.remove(&stray.id).await {
                Ok(()) => removal.gone.push(stray.name),
                Err(error) => removal.left.push(Left {
                    what: format!("container {}", stray.name),
                    why: error.to_string(),
                    may_live: true,
                }),
            }
        }
        removal
    };
    let mut all = Removal::default();
    join_all(addresses.into_iter().map(one)).await.into_iter().for_each(|one| all.add(one));
    all
}

async fn open(address: &str, backend: &str) -> Result<EngineInventory, String> {
    let parsed: Endpoint = address.parse().map_err(|_| format!("`{address}` is not an address"))?;
    EngineInventory::open(&parsed, backend, PATIENCE).await.map_err(|error| error.to_string())
}

/// A container to be removed.
struct Container<'a> {
    cell: &'a str,
    id: &'a str,
    /// Its processes are on another kernel.
    unseen: bool,
}

impl Container<'_> {
    async fn remove(&self, inventory: &EngineInventory) -> Result<String, Left> {
        let begun = Instant::now();
        let (mut look, mut insists) = (FIRST_LOOK, self.unseen);
        loop {
            if insists && let Err(error) = inventory.remove(self.id).await {
                return Err(self.left(&error.to_string()));
            }
            // A failed query may succeed the next time.
            match inventory.has(self.id).await {
                Ok(false) => return Ok(self.cell.to_owned()),
                Ok(true) | Err(_) if begun.elapsed() < LIMIT => {}
                Ok(true) => return Err(self.left("the engine does not remove it")),
                Err(error) => return Err(self.left(&error.to_string())),
            }
            insists |= begun.elapsed() > BY_ITSELF;
            sleep(look).await;
            look = (look * 2).min(LONGEST_LOOK);
        }
    }

    fn left(&self, why: &str) -> Left {
        Left { what: format!("container {}", self.cell), why: why.to_owned(), may_live: self.unseen }
    }
}
