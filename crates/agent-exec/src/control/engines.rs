//! What of a container its engine has to do, where there are engines at all.

use exec_watch::{CellRecord, StateDir};

use super::report::Left;

/// What came of asking engines.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Containers that are gone, by the names of their cells.
    pub(super) gone: Vec<String>,
    /// What could not be done.
    pub(super) left: Vec<Left>,
}

/// What dead owners left on engines, by names.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    pub(super) containers: Vec<String>,
    pub(super) volumes: Vec<String>,
    pub(super) networks: Vec<String>,
    /// What was not removed.
    pub(super) left: Vec<Left>,
    /// How many of those stay because somebody uses them.
    pub(super) in_use: usize,
}

impl Leftovers {
    /// Whether something is said of this container already.
    #[cfg(any(feature = "docker", feature = "podman"))]
    fn tells_of(&self, container: &str) -> bool {
        let left = format!("container {container}");
        self.containers.iter().any(|name| name == container) || self.left.iter().any(|one| one.what == left)
    }
}

#[cfg(any(feature = "docker", feature = "podman"))]
mod leftovers;
#[cfg(any(feature = "docker", feature = "podman"))]
pub(super) mod reach;

#[cfg(any(feature = "docker", feature = "podman"))]
pub(super) use leftovers::{clear, clear_lanes};
#[cfg(any(feature = "docker", feature = "podman"))]
pub(super) use real::{remove, remove_strays};

#[cfg(any(feature = "docker", feature = "podman"))]
mod real {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use exec_container::{Depot, Endpoint, Patience};
    use exec_watch::Place;
    use futures_util::future::join_all;
    use tokio::time::{Instant, sleep};

    use super::{Asked, CellRecord, Left, StateDir};

    /// Whoever has to stop something does not wait long for an engine that hangs.
    const PATIENCE: Patience = Patience {
        greet: Duration::from_secs(1),
        ask: Duration::from_secs(3),
        make: Duration::from_secs(3),
        remove: Duration::from_secs(3),
    };

    /// An engine takes a container away by itself when its PID 1 has ended; one that has not by then is told to.
    const BY_ITSELF: Duration = Duration::from_millis(700);

    /// How long the engine may take after it was told.
    const LIMIT: Duration = Duration::from_secs(5);

    /// Between two looks; it doubles up to the longest, because an engine that is asked all the time does nothing else.
    const FIRST_LOOK: Duration = Duration::from_millis(10);
    const LONGEST_LOOK: Duration = Duration::from_millis(160);

    /// Sees to it that the containers of these cells are gone, whose processes are dead already where they could be seen.
    pub(in super::super) async fn remove(cells: &[CellRecord]) -> Asked {
        let mut by_engine: BTreeMap<(&str, &str), Vec<Container<'_>>> = BTreeMap::new();
        for cell in cells {
            if let Some(Place::Container { id, endpoint, same_kernel }) = &cell.place {
                let container = Container { cell: &cell.name, id, unseen: !same_kernel };
                by_engine.entry((endpoint, &cell.backend)).or_default().push(container);
            }
        }
        let engines = by_engine.iter().map(|((endpoint, backend), containers)| async move {
            match open(endpoint, backend).await {
                Ok(depot) => join_all(containers.iter().map(|one| one.remove(&depot))).await,
                Err(why) => containers.iter().map(|one| Err(one.left(&why))).collect(),
            }
        });
        let mut asked = Asked::default();
        for outcome in join_all(engines).await.into_iter().flatten() {
            match outcome {
                Ok(cell) => asked.gone.push(cell),
                Err(left) => asked.left.push(left),
            }
        }
        asked
    }

    /// Removes containers that carry this directory's label and are in none of its records.
    pub(in super::super) async fn remove_strays(state: &StateDir, endpoints: Vec<(String, String)>) -> Asked {
        let one = |(endpoint, backend): (String, String)| async move {
            // An engine that is not there has nothing; one that hangs is told of with the cells that are on it.
            let Ok(depot) = open(&endpoint, &backend).await else { return Asked::default() };
            let mut asked = Asked::default();
            for stray in depot.written_down_in(state).await.unwrap_or_default() {
                match depot.remove(&stray.id).await {
                    Ok(()) => asked.gone.push(stray.name),
                    Err(error) => asked.left.push(Left {
                        what: format!("container {}", stray.name),
                        why: error.to_string(),
                        may_live: true,
                    }),
                }
            }
            asked
        };
        let mut all = Asked::default();
        for asked in join_all(endpoints.into_iter().map(one)).await {
            all.gone.extend(asked.gone);
            all.left.extend(asked.left);
        }
        all
    }

    async fn open(endpoint: &str, backend: &str) -> Result<Depot, String> {
        let parsed: Endpoint = endpoint.parse().map_err(|_| format!("`{endpoint}` is no address"))?;
        Depot::open(&parsed, backend, PATIENCE).await.map_err(|error| error.to_string())
    }

    /// A container to be removed.
    struct Container<'a> {
        cell: &'a str,
        id: &'a str,
        /// Its processes are on another kernel.
        unseen: bool,
    }

    impl Container<'_> {
        async fn remove(&self, depot: &Depot) -> Result<String, Left> {
            let begun = Instant::now();
            let (mut look, mut told) = (FIRST_LOOK, self.unseen);
            loop {
                if told && let Err(error) = depot.remove(self.id).await {
                    return Err(self.left(&error.to_string()));
                }
                // An answer that makes no sense may do so the next time.
                match depot.has(self.id).await {
                    Ok(false) => return Ok(self.cell.to_owned()),
                    Ok(true) | Err(_) if begun.elapsed() < LIMIT => {}
                    Ok(true) => return Err(self.left("the engine does not remove it")),
                    Err(error) => return Err(self.left(&error.to_string())),
                }
                told |= begun.elapsed() > BY_ITSELF;
                sleep(look).await;
                look = (look * 2).min(LONGEST_LOOK);
            }
        }

        fn left(&self, why: &str) -> Left {
            Left { what: format!("container {}", self.cell), why: why.to_owned(), may_live: self.unseen }
        }
    }
}

/// Without engines there are no containers.
#[cfg(not(any(feature = "docker", feature = "podman")))]
pub(super) async fn remove(_: &[CellRecord]) -> Asked {
    Asked::default()
}

/// Without engines there are no containers.
#[cfg(not(any(feature = "docker", feature = "podman")))]
pub(super) async fn remove_strays(_: &StateDir, _: Vec<(String, String)>) -> Asked {
    Asked::default()
}

/// Without engines nothing is left on any.
#[cfg(not(any(feature = "docker", feature = "podman")))]
pub(super) async fn clear(_: Vec<CellRecord>, _: exec_watch::SweepMode) -> Leftovers {
    Leftovers::default()
}

/// Without engines there are no ways past them.
#[cfg(not(any(feature = "docker", feature = "podman")))]
pub(super) fn clear_lanes(_: exec_watch::SweepMode) -> usize {
    0
}

/// Where engines may be that this user's containers are on, beside those in the records.
pub(super) fn usual_places() -> Vec<(String, String)> {
    #[cfg_attr(
        not(any(feature = "docker", feature = "podman")),
        expect(unused_mut, reason = "there are no engines")
    )]
    let mut places = Vec::new();
    #[cfg(feature = "docker")]
    for candidate in exec_docker::candidates(None, &exec_docker::Here).unwrap_or_default() {
        places.push((candidate.endpoint.to_string(), "docker".to_owned()));
    }
    #[cfg(feature = "podman")]
    for candidate in exec_podman::candidates(None, &exec_podman::Here).unwrap_or_default() {
        places.push((candidate.endpoint.to_string(), "podman".to_owned()));
    }
    places
}
