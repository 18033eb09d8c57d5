//! What owners that are dead left on engines: containers first, then the volumes and networks that those used.

use exec_container::{Depot, Holding, HoldingKind};
use exec_core::Result;
use exec_watch::{CellRecord, Place, SweepMode};

use super::super::report::Left;
use super::Leftovers;
use super::reach::{self, Reached};

/// Removes what the dead left wherever an engine answers, or only says what that is; and the containers of the dead that are in the
/// records, wherever those say that they are.
pub(in super::super) async fn clear(dead: Vec<CellRecord>, mode: SweepMode) -> Leftovers {
    // Held until the end: with the last depot goes a service that was started for this.
    let engines = reach::all().await;
    let mut found = Leftovers::default();
    for Reached { depot, .. } in &engines {
        containers(depot, mode, &mut found).await;
        holdings(depot, mode, &mut found).await;
    }
    if mode == SweepMode::Remove {
        let unseen = dead.into_iter().filter(|cell| !found.tells_of(&cell.name));
        let unseen: Vec<CellRecord> = unseen.map(|cell| at_todays_address(cell, &engines)).collect();
        let asked = super::remove(&unseen).await;
        found.containers.extend(asked.gone);
        found.left.extend(asked.left);
    }
    found
}

/// Removes ways past engines whose owners are dead; says how many there are.
pub(in super::super) fn clear_lanes(mode: SweepMode) -> usize {
    exec_container::clear_lanes(mode)
}

async fn containers(depot: &Depot, mode: SweepMode, found: &mut Leftovers) {
    let listed = depot.leftovers().await;
    for container in told(listed, "containers", depot, found) {
        match if mode == SweepMode::Remove { depot.remove(&container.id).await } else { Ok(()) } {
            Ok(()) => found.containers.push(container.name),
            Err(error) => {
                let what = format!("container {}", container.name);
                found.left.push(Left { what, why: error.to_string(), may_live: true });
            }
        }
    }
}

async fn holdings(depot: &Depot, mode: SweepMode, found: &mut Leftovers) {
    let listed = depot.holdings().await;
    for holding in told(listed, "volumes and networks", depot, found) {
        let stays =
            |why: String| Left { what: format!("{} {}", holding.kind, holding.name), why, may_live: false };
        match settle(depot, &holding, mode, &found.containers).await {
            Ok(None) => match holding.kind {
                HoldingKind::Volume => found.volumes.push(holding.name),
                HoldingKind::Network => found.networks.push(holding.name),
            },
            Ok(Some(users)) => {
                found.left.push(stays(users));
                found.in_use += 1;
            }
            Err(error) => found.left.push(stays(error.to_string())),
        }
    }
}

/// Removes it, unless containers use it that do not go: then who they are. Engines let go of a network that only stopped containers
/// are on, and those could not be started again; so they are asked first.
async fn settle(
    depot: &Depot,
    holding: &Holding,
    mode: SweepMode,
    gone: &[String],
) -> Result<Option<String>> {
    let users = depot.users(holding).await?;
    let users: Vec<String> = users.into_iter().filter(|user| !gone.contains(user)).collect();
    if !users.is_empty() {
        return Ok(Some(format!("its owner is dead, but it is in use by {}", users.join(", "))));
    }
    if mode == SweepMode::Look || depot.remove_holding(holding).await? {
        return Ok(None);
    }
    Ok(Some("its owner is dead, but it is in use".to_owned()))
}

/// What an engine that answered then would not say is no reason to pass it over in silence.
fn told<T>(listed: Result<Vec<T>>, what: &str, depot: &Depot, found: &mut Leftovers) -> Vec<T> {
    listed.unwrap_or_else(|error| {
        let what = format!("{what} at {}", depot.endpoint());
        found.left.push(Left { what, why: error.to_string(), may_live: true });
        Vec::new()
    })
}

/// A service that was its owner's own went with it, and its containers are on whatever Podman answers now.
fn at_todays_address(mut cell: CellRecord, engines: &[Reached]) -> CellRecord {
    if let Some(Place::Container { endpoint, .. }) = &mut cell.place
        && cell.backend == "podman"
        && was_a_service_of_our_own(endpoint)
        && let Some(podman) = engines.iter().find(|engine| engine.backend == "podman")
    {
        podman.depot.endpoint().clone_into(endpoint);
    }
    cell
}

/// Where somebody says which Podman it is to be, that need not be the one a service of ours would have been of.
#[cfg(feature = "podman")]
fn was_a_service_of_our_own(endpoint: &str) -> bool {
    let places = exec_podman::candidates(None, &exec_podman::Here).unwrap_or_default();
    let is_named = places.iter().any(|place| place.origin.is_authoritative());
    !is_named && endpoint.parse().is_ok_and(|endpoint| exec_podman::is_of_our_own(&endpoint))
}

#[cfg(not(feature = "podman"))]
fn was_a_service_of_our_own(_: &str) -> bool {
    false
}
