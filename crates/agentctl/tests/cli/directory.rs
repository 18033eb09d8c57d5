//! The working directory of the processes beside a local run.

use std::path::Path;

use rustix::process::Signal;

use crate::control::begun;
use crate::support::{Marker, Place, helpers_of};

/// A42: the keeper of a cell works in `/`, whatever links a command leaves where agentctl was started.
#[test]
fn helpers_work_in_the_root_directory() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    let helpers = helpers_of(run.pid());
    run.send(Signal::TERM);
    run.wait();
    assert!(!helpers.is_empty(), "the control: at least the keeper is alive");
    let elsewhere: Vec<_> = helpers.iter().filter(|(_, directory)| directory != Path::new("/")).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}
