//! Stops cells: politely, by force, and all at once in an emergency.

use std::collections::BTreeSet;
use std::time::Duration;

use exec_cell::{Left, Removal};
use exec_control::{CellRecord, CellView, Meant, OwnerState, Place, RunRecord, Survivor, Target};
use exec_core::Result;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::Controller;
use super::engines::{self, Addresses};
use super::report::{Ended, Report};

/// How long killed processes may take to die; only those the kernel can't interrupt take longer.
const DEATH_LIMIT: Duration = Duration::from_secs(5);

/// How long an emergency stop waits for owners that are just making a cell.
const MAKING_LIMIT: Duration = Duration::from_secs(20);

/// How long an owner may take to remove an ended cell from its records, before another process does.
const OWNERS_TURN: Duration = Duration::from_millis(500);

const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Controller {
    /// Kills at once, and returns when the end is verified.
    pub async fn kill(&self, target: &Target) -> Result<Report> {
        self.end(target, "by a kill from outside").await
    }

    /// Asks processes to end, and kills those left after `grace`.
    pub async fn stop(&self, target: &Target, grace: Duration) -> Result<Report> {
        let cells = self.list()?;
        let meant = target.among(&cells)?;
        for meant in &meant {
            match meant {
                // An idle cell has no process to ask.
                Meant::Cell(cell) if cell.is_idle() => {}
                Meant::Cell(cell) => exec_control::ask_all(std::slice::from_ref(&cell.record)),
                Meant::Run(cell, run) => exec_control::ask_run(&cell.record, run),
            }
        }
        let deadline = Instant::now() + grace;
        while Instant::now() < deadline && self.is_any_running(&meant)? {
            sleep(LOOK_AGAIN).await;
        }
        self.end_for_good(meant, "by a stop from outside").await
    }

    /// Sets the latch, so that nothing new starts, then kills repeatedly until nothing is left.
    pub async fn emergency_stop(&self) -> Result<Report> {
        self.state().latch()?;
        let mut report = Report::default();
        let mut addresses = Addresses::new();
        let mut given_up = BTreeSet::new();
        let begun = Instant::now();
        loop {
            let cells: Vec<CellView> =
                self.list()?.into_iter().filter(|cell| !given_up.contains(&cell.record.name)).collect();
            if cells.is_empty() {
                break;
            }
            for cell in &cells {
                note_address(&cell.record, &mut addresses);
            }
            // An owner that is making a cell sees the latch as soon as the cell is made, and ends it.
            let (made, making): (Vec<_>, Vec<_>) = cells.iter().map(Meant::Cell).partition(is_made);
            let round = self.end_meant(&made, "by an emergency stop").await?;
            let failed = round.survivors.iter().map(|survivor| survivor.cell.clone());
            given_up.extend(failed.chain(round.unsure.iter().cloned()));
            report.add(round.report());
            if !making.is_empty() && begun.elapsed() > MAKING_LIMIT {
                for cell in making.iter().map(cell_of) {
                    given_up.insert(cell.record.name.clone());
                    report.left.push(unfinished(cell));
                }
            }
            sleep(LOOK_AGAIN).await;
        }
        let strays = engines::remove_strays(&self.backends, self.state(), &addresses).await;
        let stray = |cell: String| Ended { cell, executor: "container".to_owned(), runs: Vec::new() };
        report.ended.extend(strays.gone.into_iter().map(stray));
        report.left.extend(strays.left);
        Ok(report)
    }

    async fn end(&self, target: &Target, why: &str) -> Result<Report> {
        let cells = self.list()?;
        self.end_for_good(target.among(&cells)?, why).await
    }

    /// Ends existing cells, then those that were being made meanwhile: a cell without a place can't be killed.
    async fn end_for_good(&self, meant: Vec<Meant<'_>>, why: &str) -> Result<Report> {
        let (made, making): (Vec<_>, Vec<_>) = meant.into_iter().partition(is_made);
        let mut report = self.end_meant(&made, why).await?.report();
        if making.is_empty() {
            return Ok(report);
        }
        let names: BTreeSet<&str> = making.iter().map(|meant| cell_of(meant).record.name.as_str()).collect();
        let begun = Instant::now();
        let awaited = loop {
            let known = self.list()?;
            let awaited: Vec<CellView> =
                known.into_iter().filter(|cell| names.contains(cell.record.name.as_str())).collect();
            if awaited.iter().all(|cell| is_made(&Meant::Cell(cell))) || begun.elapsed() > MAKING_LIMIT {
                break awaited;
            }
            sleep(LOOK_AGAIN).await;
        };
        let (made, making): (Vec<_>, Vec<_>) = awaited.iter().map(Meant::Cell).partition(is_made);
        report.add(self.end_meant(&made, why).await?.report());
        report.left.extend(making.iter().map(cell_of).map(unfinished));
        Ok(report)
    }

    async fn end_meant(&self, meant: &[Meant<'_>], why: &str) -> Result<Round> {
        let cells: Vec<CellRecord> = meant.iter().filter_map(whole_cell).collect();
        for cell in &cells {
            self.state().leave_word(&cell.name, why);
        }
        let mut survivors = kill_cells(&cells).await;
        for meant in meant {
            if let Meant::Run(cell, run) = meant {
                survivors.extend(kill_run(&cell.record, run).await);
            }
        }
        let removal = engines::remove(&self.backends, &cells).await;
        let round = Round::new(meant, survivors, removal);
        self.clear(&cells, &round).await?;
        Ok(round)
    }

    fn is_any_running(&self, meant: &[Meant<'_>]) -> Result<bool> {
        let cells = self.list()?;
        let names: BTreeSet<&str> =
            cells.iter().flat_map(|cell| &cell.runs).map(|run| run.id.as_str()).collect();
        Ok(meant.iter().any(|meant| match meant {
            Meant::Cell(cell) => cell.runs.iter().any(|run| names.contains(run.id.as_str())),
            Meant::Run(_, run) => names.contains(run.id.as_str()),
        }))
    }

    /// Removes ended cells from the records, once their owners have had time to do so.
    async fn clear(&self, cells: &[CellRecord], round: &Round) -> Result<()> {
        let end = Instant::now() + OWNERS_TURN;
        let gone: Vec<&CellRecord> = cells.iter().filter(|cell| round.is_gone(&cell.name)).collect();
        loop {
            let known = self.list()?;
            let left: Vec<_> =
                gone.iter().filter(|cell| known.iter().any(|known| known.record.name == cell.name)).collect();
            let is_awaited = |cell: &&&&CellRecord| {
                known.iter().any(|known| known.record.name == cell.name && known.owner == OwnerState::Alive)
            };
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() > end || !left.iter().any(|cell| is_awaited(&cell)) {
                for cell in left {
                    self.state().forget(&cell.name)?;
                }
                return Ok(());
            }
            sleep(LOOK_AGAIN).await;
        }
    }
}

/// The result of one round of ending.
#[derive(Debug)]
struct Round {
    meant: Vec<Ended>,
    survivors: Vec<Survivor>,
    left: Vec<Left>,
    /// Cells that may or may not have living processes.
    unsure: Vec<String>,
}

impl Round {
    fn new(meant: &[Meant<'_>], survivors: Vec<Survivor>, removal: Removal) -> Self {
        let is_unsure = |cell: &&CellView| {
            let unseen = matches!(cell.record.place, Some(Place::Container { same_kernel: false, .. }));
            unseen && !removal.gone.contains(&cell.record.name)
        };
        let cells = meant.iter().filter_map(|meant| match meant {
            Meant::Cell(cell) => Some(*cell),
            Meant::Run(..) => None,
        });
        let unsure = cells.filter(is_unsure).map(|cell| cell.record.name.clone()).collect();
        Self { meant: meant.iter().map(Ended::of).collect(), survivors, left: removal.left, unsure }
    }

    fn is_gone(&self, cell: &str) -> bool {
        !self.survivors.iter().any(|survivor| survivor.cell == cell)
            && !self.unsure.iter().any(|name| name == cell)
    }

    fn report(self) -> Report {
        let (ended, _): (Vec<_>, Vec<_>) =
            self.meant.iter().cloned().partition(|ended| self.is_gone(&ended.cell));
        Report { ended, survivors: self.survivors, left: self.left }
    }
}

fn cell_of<'a>(meant: &Meant<'a>) -> &'a CellView {
    match meant {
        Meant::Cell(cell) | Meant::Run(cell, _) => cell,
    }
}

/// Whether it has a place, or its owner can no longer give it one.
fn is_made(meant: &Meant<'_>) -> bool {
    let cell = cell_of(meant);
    cell.record.place.is_some() || cell.owner == OwnerState::Dead
}

fn whole_cell(meant: &Meant<'_>) -> Option<CellRecord> {
    match meant {
        Meant::Cell(cell) => Some(cell.record.clone()),
        Meant::Run(..) => None,
    }
}

fn note_address(cell: &CellRecord, addresses: &mut Addresses) {
    if let Some(Place::Container { endpoint, .. }) = &cell.place {
        addresses.entry(cell.backend.clone()).or_default().insert(endpoint.clone());
    }
}

fn unfinished(cell: &CellView) -> Left {
    let owner = match cell.owner {
        OwnerState::Stopped => "is stopped",
        _ => "does not finish it",
    };
    Left {
        what: format!("cell {}", cell.record.name),
        why: format!("process {} began to make it and {owner}: end that process", cell.record.owner.pid),
        may_live: true,
    }
}

/// Scans `/proc` repeatedly, so it runs on its own thread.
async fn kill_cells(cells: &[CellRecord]) -> Vec<Survivor> {
    let cells = cells.to_vec();
    spawn_blocking(move || exec_control::end_all(&cells, DEATH_LIMIT)).await.unwrap_or_default()
}

async fn kill_run(cell: &CellRecord, run: &RunRecord) -> Vec<Survivor> {
    let (cell, run) = (cell.clone(), run.clone());
    spawn_blocking(move || exec_control::end_run(&cell, &run, DEATH_LIMIT)).await.unwrap_or_default()
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use exec_control::{Audit, Process, StateDir, Watch};

    use super::*;

    /// R13: a cell that was being made when the order came is killed as soon as possible, and none of it is forgotten.
    #[tokio::test]
    async fn a_cell_that_is_being_made_does_not_escape() {
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch::new(StateDir::at(dir.path()), Audit::Off);
        let seat = watch.expect("local").unwrap();
        let making = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            let child = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
            seat.stands(&Place::Group { leader: Process::now(child.id()).unwrap() }).unwrap();
            child
        });
        let controller = Controller::of(watch);
        let report = controller.kill(&Target::All).await.unwrap();
        assert!(report.is_clean() && report.ended.len() == 1, "{report:?}");
        let mut child = making.join().unwrap();
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(ended.is_some(), "it was killed");
        assert!(controller.list().unwrap().is_empty());
    }
}
