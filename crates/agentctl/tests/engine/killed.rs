//! F1: `agentctl` is killed at any moment. None of its processes is alive a second later, its container is
//! removed soon after, and the next start finds nothing to clean up.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};
use rustix::process::Signal;

use crate::ENGINE;
use crate::runs::begun;
use crate::support::{Marker, Place, eventually};

/// R11
const PROCESSES: Duration = Duration::from_secs(1);

/// A busy engine needs time to remove a container; what matters is that it does so without us.
const CONTAINERS: Duration = Duration::from_secs(5);

/// A container that was about to be created may appear for five seconds, and its record stays until then.
const RECORDS: Duration = Duration::from_secs(20);

/// `cargo xtask soak` has more time.
fn times() -> u32 {
    if std::env::var_os("EXEC_TEST_SOAK").is_some() { 200 } else { 50 }
}

/// Containers of this process, found by its label.
fn containers_of(pid: u32) -> String {
    let filter = format!("label=dev.agentctl.owner.pid={pid}");
    let shown = ["--filter", &filter, "--format", "{{.Names}}: {{.Status}}"];
    let output = Command::new(ENGINE.name).args(["ps", "--all"]).args(shown).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// FIFO channels that this process made and did not remove.
fn fifo_channels_of(place: &Place, pid: u32) -> String {
    let entries = std::fs::read_dir(place.user().join("agentctl")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("lanes-") && name.contains(&format!("-{pid}-"))).collect()
}

fn assert_none_left(place: &Place, pid: u32, when: &str) {
    let mut left = String::new();
    let gone = eventually(CONTAINERS, || {
        std::thread::sleep(Duration::from_millis(50));
        left = containers_of(pid) + &fifo_channels_of(place, pid);
        left.is_empty()
    });
    assert!(gone, "{when}: {left}");
    let records = || ["cells", "runs"].map(|kind| place.records(kind)).concat();
    let forgotten = eventually(RECORDS, || records().is_empty());
    assert!(forgotten, "{when}, records are left: {:?}", records());
}

/// R11, A19: while everything is running.
pub(crate) async fn in_the_middle_of_a_run() -> Result<()> {
    let place = Place::new();
    for _ in 0..5 {
        let marker = Marker::new();
        let mut run = begun(&place, &marker);
        ensure!(!containers_of(run.pid()).is_empty(), "the control: a container should be there");
        ensure!(
            !fifo_channels_of(&place, run.pid()).is_empty(),
            "the control: a place for FIFO channels should be there"
        );
        ensure!(place.records("runs").len() == 1, "the control: {:?}", place.records("runs"));
        run.send(Signal::KILL);
        run.wait();
        marker.assert_gone_within(PROCESSES);
        assert_none_left(&place, run.pid(), "in the middle");
    }
    Ok(())
}

/// F1: even while the container is being made.
pub(crate) async fn at_a_random_instant() -> Result<()> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64;
    let next = AtomicU32::new(0);
    let kill_in_turn = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        for number in numbers.take_while(|number| *number < times()) {
            kill_once(seed.wrapping_add(number.into()));
        }
    };
    std::thread::scope(|scope| {
        for killer in [(); 3].map(|()| scope.spawn(kill_in_turn)) {
            // Printed unchanged: it is what a reader has to know.
            killer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    Ok(())
}

fn kill_once(seed: u64) {
    let (place, marker) = (Place::new(), Marker::new());
    let delay = Duration::from_millis(scatter(seed) % 1500);
    let mut run = place.shell(&ENGINE.sandbox(), &format!("{}; exec sleep {marker}", marker.daemon()));
    std::thread::sleep(delay);
    run.send(Signal::KILL);
    run.wait();
    marker.assert_gone_within(PROCESSES);
    assert_none_left(&place, run.pid(), &format!("killed after {delay:?}"));
}

/// Spreads neighbouring numbers far apart.
fn scatter(seed: u64) -> u64 {
    let mixed = (seed ^ (seed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}
