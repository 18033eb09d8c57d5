//! Which backend is asked about which container. The engines remember the requests.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use exec_cell::{Backend, Engines, Setup};
use exec_control::{Moment, Watch};
use exec_core::{Detected, Result};

use super::*;

/// The requests to the engines of each backend, in order.
type Asked = Arc<Mutex<Vec<String>>>;

#[derive(Debug)]
struct Cloud {
    name: &'static str,
    asked: Asked,
}

impl Cloud {
    fn note(&self, what: &str, names: impl IntoIterator<Item = String>) {
        let names: Vec<String> = names.into_iter().collect();
        self.asked.lock().unwrap().push(format!("{} {what} {}", self.name, names.join(" ")));
    }
}

#[async_trait]
impl Backend for Cloud {
    fn name(&self) -> &str {
        self.name
    }

    async fn detect(&self, _: Setup) -> Result<Detected> {
        Ok(Detected::Missing { reason: String::new(), remedy: "".into() })
    }

    fn engines(&self) -> Option<Box<dyn Engines + '_>> {
        Some(Box::new(CloudEngines(self)))
    }
}

struct CloudEngines<'a>(&'a Cloud);

#[async_trait]
impl Engines for CloudEngines<'_> {
    async fn remove(&self, cells: &[CellRecord]) -> Removal {
        let names = cells.iter().map(|cell| cell.name.clone());
        self.0.note("removes", names.clone());
        Removal { gone: names.collect(), left: Vec::new() }
    }

    async fn remove_strays(&self, _: &StateDir, addresses: &BTreeSet<String>) -> Removal {
        self.0.note("looks at", addresses.iter().cloned());
        Removal::default()
    }

    async fn clean(&self, dead: Vec<CellRecord>, _: SweepMode) -> Leftovers {
        self.0.note("cleans", dead.iter().map(|cell| cell.name.clone()));
        Leftovers { fifo_channels: ["shared".to_owned()].into(), in_use: 1, ..Leftovers::default() }
    }
}

struct Sky {
    backends: Backends,
    asked: Asked,
    cells: Vec<CellRecord>,
}

/// Three clouds; one container on each of two, two on an unknown one; and a cell that is still being made.
fn sky() -> Sky {
    let owner = Watch::default().owner().clone();
    let container = |name: &str, backend: &str, same_kernel| CellRecord {
        name: name.to_owned(),
        backend: backend.to_owned(),
        owner: owner.clone(),
        since: Moment::now(),
        place: Some(Place::Container { id: "1".into(), endpoint: format!("tcp://{backend}:1"), same_kernel }),
        session: None,
    };
    let cells = vec![
        container("c0", "east", true),
        container("c1", "west", true),
        container("c2", "gone", false),
        container("c3", "gone", true),
        CellRecord { place: None, ..container("c4", "east", true) },
    ];
    let asked = Asked::default();
    let cloud = |name| Arc::new(Cloud { name, asked: Arc::clone(&asked) }) as Arc<dyn Backend>;
    let backends = ["east", "west", "north"].map(cloud).into_iter().collect();
    Sky { backends, asked, cells }
}

/// R13, R15: each backend removes its own containers, and those of an unknown backend are reported.
#[tokio::test]
async fn containers_are_removed_by_their_backend() {
    let sky = sky();
    let removal = remove(&sky.backends, &sky.cells).await;
    assert_eq!(*sky.asked.lock().unwrap(), ["east removes c0", "west removes c1"]);
    assert_eq!(removal.gone, ["c0", "c1"]);
    let left: Vec<(&str, bool)> =
        removal.left.iter().map(|left| (left.what.as_str(), left.may_live)).collect();
    assert_eq!(left, [("container c2", true), ("container c3", false)]);
}

/// R14
#[tokio::test]
async fn strays_are_looked_for_on_every_engine() {
    let sky = sky();
    let dir = tempfile::tempdir().unwrap();
    let known = Addresses::from([("west".to_owned(), BTreeSet::from(["tcp://west:1".to_owned()]))]);
    remove_strays(&sky.backends, &StateDir::at(dir.path()), &known).await;
    assert_eq!(
        *sky.asked.lock().unwrap(),
        ["east looks at ", "west looks at tcp://west:1", "north looks at "]
    );
}

/// R15
#[tokio::test]
async fn every_engine_is_cleaned_and_what_they_share_counts_once() {
    let sky = sky();
    let found = clean(&sky.backends, sky.cells, SweepMode::Remove).await;
    assert_eq!(*sky.asked.lock().unwrap(), ["east cleans c0", "west cleans c1", "north cleans "]);
    assert_eq!((found.fifo_channels.len(), found.in_use, found.left.len()), (1, 3, 2));
}
