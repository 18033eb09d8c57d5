//! What an executor tells of its cells and runs, so that whoever has to can find and end them.
//!
//! A cell is written down before it is made, and the latch is looked at after that; an emergency stop lets the latch down
//! first and looks for cells afterwards. So there is no moment in which a cell escapes both.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use exec_core::{OwnPlaces, Result};

use crate::audit::{Audit, AuditLog, Extent};
use crate::blank::{self, Blank};
use crate::closing;
use crate::owner::{Owner, unique};
use crate::record::{CellRecord, Moment, Place};
use crate::run::{Begun, RunNote};
use crate::state::{Kind, StateDir};
use crate::sweep::{SweepMode, Swept, sweep};
use crate::view::cell;

/// Where an executor writes down what it does. Clones share one owner.
#[derive(Debug, Clone)]
pub struct Watch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: StateDir,
    owner: Owner,
    audit: Option<AuditLog>,
    own: OwnPlaces,
    swept: OnceLock<()>,
}

impl Default for Watch {
    /// This user's state directory and audit log, as the environment says.
    fn default() -> Self {
        Self::new(StateDir::of_this_user(), Audit::of_this_user())
    }
}

impl Watch {
    /// With this state directory and this audit log. Makes nothing yet.
    pub fn new(state: StateDir, audit: Audit) -> Self {
        let audit = audit.open();
        let log = audit.as_ref().and_then(AuditLog::file);
        let own = OwnPlaces::here().clone().with_records(state.path());
        let own = log.into_iter().fold(own, OwnPlaces::with_audit_log);
        let owner = Owner::this_process();
        Self(Arc::new(Inner { state, owner, audit, own, swept: OnceLock::new() }))
    }

    /// What no command may reach: this user's places, and where this one writes.
    pub fn own_places(&self) -> &OwnPlaces {
        &self.0.own
    }

    /// Where its records are.
    pub fn state(&self) -> &StateDir {
        &self.0.state
    }

    /// Whose cells it writes down.
    pub fn owner(&self) -> &Owner {
        &self.0.owner
    }

    /// An error while an emergency stop is in force.
    pub fn admit(&self) -> Result<()> {
        self.0.state.admit()
    }

    /// Writes down that a cell is about to be made; an error while nothing may be made.
    pub fn expect(&self, backend: &str) -> Result<Seat> {
        self.expect_as(cell_name(), backend)
    }

    /// The same for a cell whose name somebody has to know first.
    pub fn expect_as(&self, name: String, backend: &str) -> Result<Seat> {
        let record = CellRecord {
            name,
            backend: backend.to_owned(),
            owner: self.0.owner.clone(),
            since: Moment::now(),
            place: None,
            session: None,
        };
        self.0.state.put(Kind::Cell, &record.name, &record)?;
        let seat = Seat {
            watch: self.clone(),
            record: Arc::new(record),
            why: Arc::default(),
            blank: Arc::default(),
        };
        match self.admit() {
            Ok(()) => {
                self.sweep_once();
                Ok(seat)
            }
            Err(error) => {
                seat.gone();
                Err(error)
            }
        }
    }

    /// Cleans up after owners that are dead, as far as that can be done without engines.
    pub fn sweep(&self, mode: SweepMode) -> Result<Swept> {
        sweep(&self.0.state, self.audit(), mode, Extent::All)
    }

    pub(crate) fn audit(&self) -> Option<&AuditLog> {
        self.0.audit.as_ref()
    }

    /// Does that once, beside whatever else goes on.
    fn sweep_once(&self) {
        let watch = self.clone();
        if self.0.swept.set(()).is_ok() {
            let begun = std::thread::Builder::new().name("sweep".into()).spawn(move || {
                let (state, audit) = (watch.state(), watch.audit());
                if let Err(error) = sweep(state, audit, SweepMode::Remove, Extent::End) {
                    tracing::debug!(%error, "cleaning up after dead owners");
                }
            });
            // Whoever starts next does it.
            begun.map_or_else(|error| tracing::debug!(%error, "no thread to clean up"), drop);
        }
    }

    /// What of the records goes with a cell is called like this, with the cell's name at the end; the records of its runs go on
    /// with a dot.
    pub fn record_prefixes(&self) -> [OsString; 2] {
        let state = &self.0.state;
        [Kind::Cell, Kind::Run].map(|kind| state.record_path(kind, "").into_os_string())
    }

    /// The note that the audit log has been gone through, which has to go with the record of a run that did not end.
    pub fn log_note(&self) -> PathBuf {
        closing::note(&self.0.state)
    }

    /// What was [kept](Self::keep) under this name no longer ago than that. A time to come is not believed.
    pub fn recall(&self, name: &str, age: Duration) -> Option<Vec<u8>> {
        let root = self.0.state.root().ok()?;
        let written = root.metadata(name).ok()?.modified().ok()?;
        let is_recent = SystemTime::now().duration_since(written).is_ok_and(|passed| passed <= age);
        if is_recent { self.0.state.read_beside(name).ok() } else { None }
    }

    /// Keeps something small beside the records, for the next program of this user's. Where that fails, it finds it out anew.
    pub fn keep(&self, name: &str, contents: &[u8]) {
        let kept = self.0.state.prepare().and_then(|()| self.0.state.replace_beside(name, contents));
        if let Err(error) = kept {
            tracing::debug!(%error, name, "nothing could be kept");
        }
    }

    /// Writes down that a run starts. Refused where it must be written down and can't be.
    pub fn begin(&self, run: Begun<'_>) -> Result<RunNote> {
        RunNote::begin(&self.0.state, &self.0.owner, self.audit(), run)
    }
}

/// How the name of a cell begins; the owner's number follows.
const CELL: &str = "agentctl-";

/// A name for a cell, which nothing else has.
pub fn cell_name() -> String {
    unique(&format!("{CELL}{}", std::process::id()))
}

/// Whether [`cell_name`] could have made this name.
pub(crate) fn is_cell_name(name: &str) -> bool {
    let is_number = |part: &str| part.parse::<u64>().is_ok();
    let is_random = |part: &str| part.len() >= 12 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Option<Vec<&str>> = name.strip_prefix(CELL).map(|rest| rest.split('-').collect());
    matches!(parts.as_deref(), Some([pid, count, random]) if is_number(pid) && is_number(count) && is_random(random))
}

/// A cell's place in the records, from before it is made until nothing of it is left. What is dropped without
/// [`gone`](Self::gone) stays, for whoever cleans up.
#[derive(Debug, Clone)]
pub struct Seat {
    watch: Watch,
    record: Arc<CellRecord>,
    /// Why it was ended from outside, once it is gone.
    why: Arc<OnceLock<Option<String>>>,
    /// For the record of its run.
    blank: Arc<Mutex<Option<Blank>>>,
}

impl Seat {
    /// The cell's name, which nothing else has.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// What of the records, with what begins with one and a dot, has to go when nothing of the cell is left and its owner is dead. Why it was ended stays: only its
    /// owner asks for that.
    pub fn files(&self) -> [OsString; 2] {
        self.watch.record_prefixes().map(|mut path| {
            path.push(self.name());
            path
        })
    }

    /// Writes down where the cell is. An error means that it must be ended at once: an emergency stop may have missed it.
    pub fn stands(&self, place: &Place) -> Result<()> {
        self.watch.0.state.add(Kind::Cell, self.name(), place)?;
        self.watch.admit()
    }

    /// Sees to it that its run is quickly written down. For a cell that nobody waits for yet.
    pub fn expect_run(&self) {
        let blank = Blank::lay(&self.watch.0.state, self.name());
        *self.blank.lock().unwrap_or_else(PoisonError::into_inner) = blank;
    }

    pub(crate) fn take_blank(&self) -> Option<Blank> {
        self.blank.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Writes down that the cell serves a session from now on.
    pub fn serves(&self, session: &str) {
        let state = &self.watch.0.state;
        let Some(record) = cell(state, self.name()) else { return };
        let record = CellRecord { session: Some(session.to_owned()), ..record };
        if let Err(error) = state.replace(Kind::Cell, self.name(), &record) {
            tracing::warn!(%error, "a session is not in the records");
        }
    }

    /// Why the cell was ended from outside, if it was and whoever did it said so.
    pub fn why_ended(&self) -> Option<String> {
        let told = || self.watch.0.state.get(Kind::End, self.name());
        self.why.get().cloned().unwrap_or_else(told)
    }

    /// Nothing of the cell is left.
    pub fn gone(&self) {
        let state = &self.watch.0.state;
        self.why.get_or_init(|| state.get(Kind::End, self.name()));
        if self.take_blank().is_some() {
            blank::discard(state, self.name());
        }
        state.remove(Kind::Cell, self.name());
        state.remove(Kind::End, self.name());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use exec_core::ErrorKind;

    use super::*;
    use crate::process::Process;
    use crate::view;

    fn watch(dir: &tempfile::TempDir) -> Watch {
        Watch::new(StateDir::at(dir.path()), Audit::Off)
    }

    #[test]
    fn a_cell_is_known_from_before_it_is_made_until_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let watch = watch(&dir);
        let known = || cell(watch.state(), &watch.state().names(Kind::Cell).unwrap()[0]);
        let seat = watch.expect("local").unwrap();
        assert_eq!(known().unwrap().place, None);
        let place = Place::Group { leader: Process { pid: 1, start: 2 } };
        seat.stands(&place).unwrap();
        assert_eq!(known().unwrap().place, Some(place));
        seat.serves("main");
        assert_eq!(known().unwrap().session.as_deref(), Some("main"));
        seat.gone();
        assert!(watch.state().names(Kind::Cell).unwrap().is_empty());
    }

    /// R90: whichever way it is written down, a run is in the records once, and its cell leaves nothing there.
    #[test]
    fn a_run_is_in_the_records_from_its_start_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let watch = watch(&dir);
        let opts = exec_core::ExecOpts::in_workspace(dir.path());
        let plan =
            exec_core::Plan::resolve(&exec_core::Cmd::new("make"), &opts, [], &OwnPlaces::default()).unwrap();
        let isolation = exec_core::Isolation {
            level: exec_core::IsolationLevel::Namespaces,
            claims: BTreeSet::new(),
            uid: 0,
            gid: 0,
            landlock_abi: 0,
            image: None,
            limits: Vec::new(),
            degraded: Vec::new(),
        };
        let files = || std::fs::read_dir(dir.path().join("runs")).unwrap().count();
        for (is_warm, runs) in [(false, 1), (true, 0), (true, 1), (true, 2)] {
            let seat = watch.expect("local").unwrap();
            if is_warm {
                seat.expect_run();
                assert_eq!((files(), view::runs(watch.state()).unwrap().len()), (1, 0));
            }
            let notes: Vec<RunNote> = (0..runs)
                .map(|number| {
                    let id = exec_core::RunId::new(format!("r{number}"));
                    let begun =
                        Begun { id: &id, cell: &seat, backend: "local", plan: &plan, isolation: &isolation };
                    watch.begin(begun).unwrap()
                })
                .collect();
            let known = view::runs(watch.state()).unwrap();
            assert_eq!(known.len(), runs, "{known:?}");
            assert!(known.iter().all(|run| run.cell == seat.name() && run.argv == ["make"]));
            for note in notes {
                note.lost("it was a test");
            }
            seat.gone();
            assert_eq!(files(), 0);
        }
    }

    /// A41
    #[test]
    fn a_name_of_a_cell_is_known() {
        assert!((0..100).all(|_| is_cell_name(&cell_name())));
        for other in
            ["agentctl", "agentctl-1-0-", "agentctl-1-0-abc", "agentctl-1-0-0123456789ab-x", "user.slice"]
        {
            assert!(!is_cell_name(other), "{other}");
        }
    }

    /// R14: an emergency stop at whatever moment of the making of a cell.
    #[test]
    fn the_latch_refuses_cells_that_are_being_made() {
        let dir = tempfile::tempdir().unwrap();
        let watch = watch(&dir);
        let seat = watch.expect("local").unwrap();
        watch.state().latch().unwrap();
        assert_eq!(watch.expect("local").unwrap_err().kind(), ErrorKind::Stopped);
        let place = Place::Group { leader: Process { pid: 1, start: 2 } };
        assert_eq!(seat.stands(&place).unwrap_err().kind(), ErrorKind::Stopped);
        assert_eq!(watch.state().names(Kind::Cell).unwrap(), [seat.name()], "it is there until it is gone");
    }

    /// F7
    #[test]
    fn where_nothing_can_be_written_down_nothing_starts() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let watch = Watch::new(StateDir::at(dir.path().join("file/state")), Audit::Off);
        let error = watch.expect("local").unwrap_err();
        assert!(error.remedy().unwrap().contains("AGENTCTL_STATE_DIR"), "{error}");
    }
}
