//! A41: state directories that another user prepared, and unexpected entries in one of ours.
//!
//! Records decide what is killed and removed. The forged records here name a decoy process and a decoy
//! directory; the positive control shows that `gc` kills and removes exactly those if the directory is ours.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use agent_exec::control::{Audit, StateDir, Watch};
use exec_wire::procfs::Stat;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::support::{Place, Run, said, wait};

/// A user other than the one who runs the tests.
const ANOTHER: u32 = 54_321;

/// What a dead owner's record names: a live process, and a directory with a file in it.
struct Decoys {
    process: Child,
    directory: PathBuf,
    record: Value,
}

impl Decoys {
    fn new() -> Self {
        let process = Command::new("sleep").arg("1000").spawn().unwrap();
        let name = format!("agentctl-{}-0-0123456789ab", process.id());
        let directory = std::env::temp_dir().join(&name);
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("precious"), "").unwrap();
        let watch = Watch::new(StateDir::at("/nowhere"), Audit::Off);
        let mut owner = serde_json::to_value(watch.owner()).unwrap();
        owner["start"] = json!(1);
        let record = json!({
            "name": name,
            "backend": "local",
            "owner": owner,
            "since": 0,
            "place": {
                "kind": "keeper",
                "keeper": { "pid": process.id(), "start": start_time(process.id()) },
                "scratch": directory,
            },
        });
        Self { process, directory, record }
    }

    /// Writes the record into a state directory, with the modes of one that another user prepared.
    fn forge(&self, state: &Path, mode: u32) {
        for kind in ["cells", "runs", "ends"] {
            fs::create_dir_all(state.join(kind)).unwrap();
            fs::set_permissions(state.join(kind), Permissions::from_mode(mode)).unwrap();
        }
        let name = self.record["name"].as_str().unwrap();
        fs::write(state.join("cells").join(name), self.record.to_string()).unwrap();
        fs::set_permissions(state, Permissions::from_mode(mode)).unwrap();
    }

    fn are_untouched(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none() && self.directory.join("precious").exists()
    }
}

impl Drop for Decoys {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn start_time(pid: u32) -> u64 {
    Stat::parse(&fs::read(format!("/proc/{pid}/stat")).unwrap()).unwrap().start
}

/// Every command that reads or writes records.
const COMMANDS: &[&[&str]] = &[
    &["run", "--", "true"],
    &["ps"],
    &["health"],
    &["gc", "--dry-run"],
    &["gc"],
    &["kill", "--all"],
    &["stop", "--all"],
    &["emergency-stop"],
    &["resume"],
];

/// Every one of them is refused, with the directory, the reason and a remedy, and the decoys are untouched.
fn all_refuse(place: &Place, state: &Path, decoys: &mut Decoys, reason: &str) {
    let before = fs::read_dir(state).map(Iterator::count).unwrap_or_default();
    for args in COMMANDS {
        let output = to_the_end(place.agentctl(*args).env("AGENTCTL_STATE_DIR", state));
        let said = said(&output);
        assert!(!output.status.success(), "{args:?}: {said}");
        for part in [state.to_str().unwrap(), reason, "try: ", "AGENTCTL_STATE_DIR"] {
            assert!(said.contains(part), "{args:?} should say {part:?}: {said}");
        }
        assert!(decoys.are_untouched(), "{args:?}: {said}");
    }
    assert_eq!(
        fs::read_dir(state).map(Iterator::count).unwrap_or_default(),
        before,
        "nothing was made there"
    );
}

/// Runs to the end, with a time limit.
fn to_the_end(command: &mut Command) -> Output {
    let mut run = Run::spawn(command.stderr(Stdio::piped()));
    wait(run.child());
    run.without_reader().wait_with_output().unwrap()
}

#[test]
fn the_control_a_record_of_ours_is_obeyed() {
    let (place, mut decoys) = (Place::new(), Decoys::new());
    decoys.forge(&place.state(), 0o700);
    let output = place.output(["gc"]);
    assert!(output.status.success(), "{}", said(&output));
    wait(&mut decoys.process);
    assert!(!decoys.directory.exists(), "{}", said(&output));
    assert!(place.records("cells").is_empty());
}

#[test]
fn a_directory_that_others_can_write_is_refused() {
    let (place, mut decoys) = (Place::new(), Decoys::new());
    decoys.forge(&place.state(), 0o777);
    all_refuse(&place, &place.state(), &mut decoys, "open to others");
}

/// One that was prepared before its permissions were tightened.
#[test]
fn a_directory_of_records_that_others_can_write_is_refused() {
    let (place, mut decoys) = (Place::new(), Decoys::new());
    decoys.forge(&place.state(), 0o700);
    fs::set_permissions(place.state().join("cells"), Permissions::from_mode(0o777)).unwrap();
    for args in [&["ps"][..], &["health"], &["gc"], &["kill", "--all"], &["run", "--", "true"]] {
        let output = to_the_end(&mut place.agentctl(args));
        assert!(!output.status.success() && said(&output).contains("open to others"), "{}", said(&output));
        assert!(decoys.are_untouched(), "{args:?}");
    }
}

#[test]
fn a_link_is_refused() {
    let (place, mut decoys) = (Place::new(), Decoys::new());
    let real = place.user().join("real");
    decoys.forge(&real, 0o700);
    let elsewhere = place.user().join("elsewhere");
    symlink(&real, &elsewhere).unwrap();
    all_refuse(&place, &elsewhere, &mut decoys, "it is a link");
    fs::create_dir(place.state()).unwrap();
    symlink(real.join("cells"), place.state().join("cells")).unwrap();
    let output = place.output(["gc"]);
    assert!(!output.status.success() && decoys.are_untouched(), "{}", said(&output));
}

/// Root's, for an ordinary user; an ordinary user's, for root.
#[test]
fn a_directory_of_another_user_is_refused() {
    let (place, mut decoys) = (Place::new(), Decoys::new());
    let prepared = place.user().join("prepared");
    decoys.forge(&prepared, 0o777);
    if chown(&prepared, Some(ANOTHER), None).is_ok() {
        all_refuse(&place, &prepared, &mut decoys, &format!("belongs to user {ANOTHER}"));
    } else {
        all_refuse(&place, Path::new("/usr"), &mut decoys, "belongs to user 0");
    }
}

/// The script that works without the program refuses the same directories, and ends the same cells.
#[test]
fn the_script_obeys_only_records_of_ours() {
    let (place, mut decoys) = (Place::new(), Decoys::new());
    let script = place.user().join("emergency-stop.sh");
    fs::write(&script, include_str!("../../../../scripts/emergency-stop.sh")).unwrap();
    let stop = |state: &Path| {
        let mut command = Command::new("sh");
        command.arg(&script).env("AGENTCTL_BIN", "/nonexistent").env("AGENTCTL_ENGINES", "no-engine");
        to_the_end(command.env("AGENTCTL_STATE_DIR", state))
    };
    let state = place.state();
    decoys.forge(&state, 0o777);
    let link = place.user().join("link");
    symlink(&state, &link).unwrap();
    for refused in [&state, &link] {
        let output = stop(refused);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(
            said(&output).contains("its records are ignored") && decoys.are_untouched(),
            "{}",
            said(&output)
        );
    }
    decoys.forge(&state, 0o700);
    mknodat(CWD, state.join("cells/pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let output = stop(&state);
    assert!(output.status.success() && state.join("stopped").exists(), "{}", said(&output));
    wait(&mut decoys.process);
}

/// A43: no read blocks, and every read has a bound.
#[test]
fn entries_that_are_not_records_are_skipped() {
    let place = Place::new();
    for kind in ["cells", "runs"] {
        let records = place.state().join(kind);
        fs::create_dir_all(&records).unwrap();
        fs::set_permissions(place.state(), Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(&records, Permissions::from_mode(0o700)).unwrap();
        mknodat(CWD, records.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        symlink("/dev/zero", records.join("device")).unwrap();
        symlink("loop", records.join("loop")).unwrap();
        fs::create_dir(records.join("directory")).unwrap();
        fs::File::create(records.join("sparse")).unwrap().set_len(1 << 40).unwrap();
        fs::write(records.join("deep"), "[".repeat(500_000)).unwrap();
        fs::write(records.join("closed"), "").unwrap();
        fs::set_permissions(records.join("closed"), Permissions::from_mode(0o000)).unwrap();
        drop(std::os::unix::net::UnixListener::bind(records.join("socket")).unwrap());
    }
    for args in [&["ps"][..], &["health"], &["gc"], &["kill", "--all"], &["run", "--quiet", "--", "true"]] {
        let output = to_the_end(&mut place.agentctl(args));
        assert!(output.status.success(), "{args:?}: {}", said(&output));
    }
    // Any entry of that name is the latch.
    mknodat(CWD, place.state().join("stopped"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let refused = to_the_end(&mut place.agentctl(["run", "--", "true"]));
    assert!(said(&refused).contains("agentctl resume"), "{}", said(&refused));
    assert!(to_the_end(&mut place.agentctl(["resume"])).status.success());
}
