//! The owner of an object on an engine. Labels set at creation record it, never the name.

use std::collections::HashMap;

use exec_control::{Owner, StateDir, World};

use crate::engine::Listed;

/// On every object that belongs to one owner; its value is the owner's id.
pub(crate) const OWNER: &str = "dev.agentctl.owner";

const OWNER_PID: &str = "dev.agentctl.owner.pid";
const OWNER_START: &str = "dev.agentctl.owner.start";
const OWNER_BOOT: &str = "dev.agentctl.owner.boot";
const OWNER_NAMESPACES: &str = "dev.agentctl.owner.namespaces";
/// The directory of its records: commands on another directory leave it alone.
pub(crate) const STATE: &str = "dev.agentctl.state";
const CELL: &str = "dev.agentctl.cell";
pub(crate) const VERSION: &str = "dev.agentctl.version";

/// The labels of an object with this owner, with its records in that directory; `cell` is its name.
pub(crate) fn of_cell(owner: &Owner, state: &StateDir, cell: &str) -> HashMap<String, String> {
    let mut labels = HashMap::from([
        (OWNER.to_owned(), owner.id.clone()),
        (OWNER_PID.to_owned(), owner.pid.to_string()),
        (CELL.to_owned(), cell.to_owned()),
        (STATE.to_owned(), state.path().to_string_lossy().into_owned()),
        (VERSION.to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ]);
    labels.extend(owner.start.map(|start| (OWNER_START.to_owned(), start.to_string())));
    if let Some(World { boot, namespaces }) = owner.world.clone() {
        labels.extend([(OWNER_BOOT.to_owned(), boot), (OWNER_NAMESPACES.to_owned(), namespaces)]);
    }
    labels
}

/// The owner of an object, parsed from its labels; requires all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) pid: u32,
    pub(crate) start: u64,
    pub(crate) world: World,
    pub(crate) cell: String,
}

impl Mark {
    pub(crate) fn parse(labels: &HashMap<String, String>) -> Option<Self> {
        let text = |key: &str| labels.get(key).filter(|value| !value.is_empty()).cloned();
        text(OWNER)?;
        Some(Self {
            pid: text(OWNER_PID)?.parse().ok()?,
            start: text(OWNER_START)?.parse().ok()?,
            world: World { boot: text(OWNER_BOOT)?, namespaces: text(OWNER_NAMESPACES)? },
            cell: text(CELL)?,
        })
    }
}

/// Whether an object has all our labels, including its own name. Images pass their labels on to containers made from
/// them, but can't know their names.
pub(crate) fn is_ours(listed: &Listed) -> bool {
    Mark::parse(&listed.labels).is_some_and(|mark| mark.cell == listed.name)
}

/// The labels of objects that serve all owners: images, and the volume with PID 1. They have no owner that could die.
pub(crate) fn of_ours() -> HashMap<String, String> {
    HashMap::from([(VERSION.to_owned(), env!("CARGO_PKG_VERSION").to_owned())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_is_known_beyond_its_number() {
        let labels = of_cell(&Owner::this_process(), &StateDir::at("/s"), "x");
        assert!(Mark::parse(&labels).is_some(), "{labels:?}");
        assert_eq!(labels[STATE], "/s");
    }
}
