//! Where the processes beside a local run work.

use std::path::Path;

use rustix::process::Signal;

use crate::control::begun;
use crate::support::{Marker, Place, helpers_of};

/// A42: the keeper of a cell works in `/`, whatever links a command leaves where agentctl was started.
#[test]
fn helpers_work_nowhere() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    let helpers = helpers_of(run.pid());
    run.send(Signal::TERM);
    run.wait();
    assert!(!helpers.is_empty(), "the control: there is at least the keeper");
    let elsewhere: Vec<_> = helpers.iter().filter(|(_, directory)| directory != Path::new("/")).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}
