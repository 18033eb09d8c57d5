//! Records the cells and runs of an executor, so that they can be found and ended from outside.
//!
//! A cell is recorded before it is created, and the latch is checked after that; an emergency stop sets the latch
//! first and looks for cells afterwards. So no cell can escape both.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use exec_core::{OwnPlaces, Result};

use crate::audit::{Audit, AuditLog, Extent};
use crate::closing;
use crate::owner::{Owner, unique};
use crate::preallocated::{self, PreallocatedRecord};
use crate::record::{CellRecord, Moment, Place};
use crate::run::{Begun, RunNote};
use crate::state::{Kind, StateDir};
use crate::sweep::{SweepMode, Swept, sweep};
use crate::view::cell;

/// The records and the audit log an executor writes to. Clones share one owner.
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
    /// Uses this user's state directory and audit log, as set in the environment.
    fn default() -> Self {
        Self::new(StateDir::of_this_user(), Audit::of_this_user())
    }
}

impl Watch {
    /// Uses this state directory and audit log. Creates nothing yet.
    pub fn new(state: StateDir, audit: Audit) -> Self {
        let audit = audit.open();
        let log = audit.as_ref().and_then(AuditLog::file);
        let own = OwnPlaces::here().clone().with_records(state.path());
        let own = log.into_iter().fold(own, OwnPlaces::with_audit_log);
        let owner = Owner::this_process();
        Self(Arc::new(Inner { state, owner, audit, own, swept: OnceLock::new() }))
    }

    /// Paths that no command may reach: this user's own directories, and the ones this watch writes to.
    pub fn own_places(&self) -> &OwnPlaces {
        &self.0.own
    }

    /// The directory of its records.
    pub fn state(&self) -> &StateDir {
        &self.0.state
    }

    /// The owner of the cells it records.
    pub fn owner(&self) -> &Owner {
        &self.0.owner
    }

    /// Fails while an emergency stop is in force.
    pub fn admit(&self) -> Result<()> {
        self.0.state.admit()
    }

    /// Records that a cell is about to be created.
    ///
    /// # Errors
    ///
    /// Fails while an emergency stop is in force, or if the record can't be written.
    pub fn expect(&self, backend: &str) -> Result<Seat> {
        self.expect_as(cell_name(), backend)
    }

    /// Like [`expect`](Self::expect), for a cell whose name has to be known before.
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
            preallocated: Arc::default(),
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

    /// Cleans up after dead owners, as far as that is possible without engines.
    pub fn sweep(&self, mode: SweepMode) -> Result<Swept> {
        sweep(&self.0.state, self.audit(), mode, Extent::All)
    }

    pub(crate) fn audit(&self) -> Option<&AuditLog> {
        self.0.audit.as_ref()
    }

    /// Cleans up once, in the background.
    fn sweep_once(&self) {
        let watch = self.clone();
        if self.0.swept.set(()).is_ok() {
            let begun = std::thread::Builder::new().name("sweep".into()).spawn(move || {
                let (state, audit) = (watch.state(), watch.audit());
                if let Err(error) = sweep(state, audit, SweepMode::Remove, Extent::End) {
                    tracing::debug!(%error, "cleaning up after dead owners");
                }
            });
            // The next process to start does it.
            begun.map_or_else(|error| tracing::debug!(%error, "no thread to clean up"), drop);
        }
    }

    /// The paths of a cell's records, without the cell's name at the end. The records of its runs add a dot and
    /// more.
    pub fn record_prefixes(&self) -> [OsString; 2] {
        let state = &self.0.state;
        [Kind::Cell, Kind::Run].map(|kind| state.record_path(kind, "").into_os_string())
    }

    /// The note that the audit log has been searched. It has to be removed with the record of a run that did not
    /// end.
    pub fn log_note(&self) -> PathBuf {
        closing::note(&self.0.state)
    }

    /// Returns what was [kept](Self::keep) under this name within this time. A modification time in the future is
    /// not trusted.
    pub fn recall(&self, name: &str, age: Duration) -> Option<Vec<u8>> {
        let root = self.0.state.root().ok()?;
        let written = root.metadata(name).ok()?.modified().ok()?;
        let is_recent = SystemTime::now().duration_since(written).is_ok_and(|passed| passed <= age);
        if is_recent { self.0.state.read_beside(name).ok() } else { None }
    }

    /// Keeps a small file next to the records, for the user's next process. On failure that process has to find it
    /// out again.
    pub fn keep(&self, name: &str, contents: &[u8]) {
        let kept = self.0.state.prepare().and_then(|()| self.0.state.replace_beside(name, contents));
        if let Err(error) = kept {
            tracing::debug!(%error, name, "nothing could be kept");
        }
    }

    /// Records that a run starts.
    ///
    /// # Errors
    ///
    /// Fails if the record, or a required audit log, can't be written.
    pub fn begin(&self, run: Begun<'_>) -> Result<RunNote> {
        RunNote::begin(&self.0.state, &self.0.owner, self.audit(), run)
    }
}

/// The start of a cell's name; the owner's pid follows.
const CELL: &str = "agentctl-";

/// A unique name for a cell.
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

/// A cell's place in the records, from before it is created until nothing of it is left. If it is dropped without
/// [`gone`](Self::gone), the record stays for a later cleanup.
#[derive(Debug, Clone)]
pub struct Seat {
    watch: Watch,
    record: Arc<CellRecord>,
    /// Why it was ended from outside, read when it is gone.
    why: Arc<OnceLock<Option<String>>>,
    /// A file prepared for the record of its run.
    preallocated: Arc<Mutex<Option<PreallocatedRecord>>>,
}

impl Seat {
    /// The cell's unique name.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// The paths of records, including paths that continue one with a dot, to remove when nothing of the cell is
    /// left and its owner is dead. The note why it was ended is not among them: only its owner reads that.
    pub fn files(&self) -> [OsString; 2] {
        self.watch.record_prefixes().map(|mut path| {
            path.push(self.name());
            path
        })
    }

    /// Records where the cell is. On an error the cell must be ended at once: an emergency stop may have missed it.
    pub fn stands(&self, place: &Place) -> Result<()> {
        self.watch.0.state.add(Kind::Cell, self.name(), place)?;
        self.watch.admit()
    }

    /// Prepares the record of its run in advance, for a cell that no caller waits for yet.
    pub fn expect_run(&self) {
        let preallocated = PreallocatedRecord::lay(&self.watch.0.state, self.name());
        *self.preallocated.lock().unwrap_or_else(PoisonError::into_inner) = preallocated;
    }

    pub(crate) fn take_preallocated(&self) -> Option<PreallocatedRecord> {
        self.preallocated.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Records that the cell serves a session from now on.
    pub fn serves(&self, session: &str) {
        let state = &self.watch.0.state;
        let Some(record) = cell(state, self.name()) else { return };
        let record = CellRecord { session: Some(session.to_owned()), ..record };
        if let Err(error) = state.replace(Kind::Cell, self.name(), &record) {
            tracing::warn!(%error, "a session is not in the records");
        }
    }

    /// Why the cell was ended from outside, if it was and a reason was given.
    pub fn why_ended(&self) -> Option<String> {
        let reported = || self.watch.0.state.get(Kind::End, self.name());
        self.why.get().cloned().unwrap_or_else(reported)
    }

    /// Removes the records: nothing of the cell is left.
    pub fn gone(&self) {
        let state = &self.watch.0.state;
        self.why.get_or_init(|| state.get(Kind::End, self.name()));
        if self.take_preallocated().is_some() {
            preallocated::discard(state, self.name());
        }
        state.remove(Kind::Cell, self.name());
        state.remove(Kind::End, self.name());
    }
}

#[cfg(test)]
mod tests {

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

    /// R90: with or without a prepared file, a run is in the records once, and its cell leaves nothing there.
    #[test]
    fn a_run_is_in_the_records_from_its_start_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let watch = watch(&dir);
        let opts = exec_core::ExecOpts::in_workspace(dir.path());
        let plan =
            exec_core::Plan::resolve(&exec_core::Cmd::new("make"), &opts, [], &OwnPlaces::default()).unwrap();
        let isolation = exec_core::Isolation::new(exec_core::IsolationLevel::Namespaces);
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

    /// R14: an emergency stop at any moment of a cell's creation.
    #[test]
    fn the_latch_refuses_cells_that_are_being_made() {
        let dir = tempfile::tempdir().unwrap();
        let watch = watch(&dir);
        let seat = watch.expect("local").unwrap();
        watch.state().latch().unwrap();
        assert_eq!(watch.expect("local").unwrap_err().kind(), ErrorKind::Stopped);
        let place = Place::Group { leader: Process { pid: 1, start: 2 } };
        assert_eq!(seat.stands(&place).unwrap_err().kind(), ErrorKind::Stopped);
        assert_eq!(
            watch.state().names(Kind::Cell).unwrap(),
            [seat.name()],
            "the record stays until the cell is gone"
        );
    }

    /// F7
    #[test]
    fn where_nothing_can_be_written_down_nothing_starts() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let watch = Watch::new(StateDir::at(dir.path().join("file/state")), Audit::Off);
        let error = watch.expect("local").unwrap_err();
        assert!(error.remedy().unwrap().to_string().contains("AGENTCTL_STATE_DIR"), "{error}");
    }
}
