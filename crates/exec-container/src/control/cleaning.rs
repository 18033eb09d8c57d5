//! Cleans up after dead owners on engines: containers first, then the volumes and networks that those used.

use exec_cell::{Left, Leftovers};
use exec_control::{CellRecord, Place, SweepMode};
use exec_core::Result;

use super::volumes_and_networks::{Leftover, LeftoverKind};
use super::{EngineInventory, FindEngines};
use crate::channel::fifo;
use crate::host::cache;

/// Removes the resources of dead owners on these engines, or only lists them.
pub(super) async fn clean(engines: &[EngineInventory], mode: SweepMode) -> Leftovers {
    let mut found = Leftovers::default();
    for inventory in engines {
        containers(inventory, mode, &mut found).await;
        leftover_objects(inventory, mode, &mut found).await;
    }
    found.fifo_channels.extend(fifo::clear(&cache::directory(), mode));
    found
}

/// Whether the list has this container already.
pub(super) fn mentions(found: &Leftovers, container: &str) -> bool {
    let left = format!("container {container}");
    found.containers.iter().any(|name| name == container) || found.left.iter().any(|one| one.what == left)
}

/// Moves the record of a cell whose engine ended with its owner to the engine that answers now.
pub(super) fn at_todays_address(
    mut cell: CellRecord,
    finder: &dyn FindEngines,
    engines: &[EngineInventory],
) -> CellRecord {
    if let Some(Place::Container { endpoint, .. }) = &mut cell.place
        && endpoint.parse().is_ok_and(|address| finder.ended_with_its_owner(&address))
        && let Some(engine) = engines.first()
    {
        engine.endpoint().clone_into(endpoint);
    }
    cell
}

async fn containers(inventory: &EngineInventory, mode: SweepMode, found: &mut Leftovers) {
    let listed = inventory.leftovers().await;
    for container in or_left(listed, "containers", inventory, found) {
        match if mode == SweepMode::Remove { inventory.remove(&container.id).await } else { Ok(()) } {
            Ok(()) => found.containers.push(container.name),
            Err(error) => {
                let what = format!("container {}", container.name);
                found.left.push(Left { what, why: error.to_string(), may_live: true });
            }
        }
    }
}

async fn leftover_objects(inventory: &EngineInventory, mode: SweepMode, found: &mut Leftovers) {
    let listed = inventory.leftover_objects().await;
    for leftover in or_left(listed, "volumes and networks", inventory, found) {
        let stays =
            |why: String| Left { what: format!("{} {}", leftover.kind, leftover.name), why, may_live: false };
        match settle(inventory, &leftover, mode, &found.containers).await {
            Ok(None) => match leftover.kind {
                LeftoverKind::Volume => found.volumes.push(leftover.name),
                LeftoverKind::Network => found.networks.push(leftover.name),
            },
            Ok(Some(users)) => {
                found.left.push(stays(users));
                found.in_use += 1;
            }
            Err(error) => found.left.push(stays(error.to_string())),
        }
    }
}

/// Removes it, unless remaining containers use it: then returns those. Engines remove a network that only stopped
/// containers use, which then can't be started again; so its users are looked up first.
async fn settle(
    inventory: &EngineInventory,
    leftover: &Leftover,
    mode: SweepMode,
    gone: &[String],
) -> Result<Option<String>> {
    let users = inventory.users(leftover).await?;
    let users: Vec<String> = users.into_iter().filter(|user| !gone.contains(user)).collect();
    if !users.is_empty() {
        return Ok(Some(format!("its owner is dead, but it is in use by {}", users.join(", "))));
    }
    if mode == SweepMode::Look || inventory.remove_leftover(leftover).await? {
        return Ok(None);
    }
    Ok(Some("its owner is dead, but it is in use".to_owned()))
}

/// Reports an engine that answered but can't list its objects, instead of skipping it silently.
fn or_left<T>(
    listed: Result<Vec<T>>,
    what: &str,
    inventory: &EngineInventory,
    found: &mut Leftovers,
) -> Vec<T> {
    listed.unwrap_or_else(|error| {
        let what = format!("{what} at {}", inventory.endpoint());
        found.left.push(Left { what, why: error.to_string(), may_live: true });
        Vec::new()
    })
}
