//! The working directory of the processes beside a run: files that they create by a relative name must not
//! end up in a workspace.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use exec_testkit::Skip;
use rustix::process::Signal;

use crate::ENGINE;
use crate::runs::begun;
use crate::support::{Marker, Place, helpers_of};

/// More than the limit, and little for a host.
const TOO_MUCH: &str = "head -c 268435456 /dev/zero | tail -c 268435456 > /dev/null";

/// A42: our helpers, our own service and its container's monitor all work in `/`.
pub(crate) async fn helpers_work_in_the_root_directory() -> Result<()> {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    let helpers = helpers_of(run.pid());
    run.send(Signal::TERM);
    run.wait();
    ensure!(!helpers.is_empty(), "the control: at least the reaper is alive");
    let elsewhere: Vec<_> = helpers.iter().filter(|(_, directory)| directory != Path::new("/")).collect();
    ensure!(elsewhere.is_empty(), "{elsewhere:#?}");
    Ok(())
}

/// A42: Podman's monitor creates a file `oom` in its working directory; a command leaves a link of that name.
pub(crate) async fn a_link_planted_for_an_engine_is_not_followed() -> Result<()> {
    let (place, home) = (Place::new(), tempfile::tempdir()?);
    let decoy = home.path().join("decoy");
    let limited = |script: &str| {
        let run = ["run", "--memory", "64m"];
        place.output(run.iter().chain(&ENGINE.sandbox()).chain(&["--", "sh", "-c", script]))
    };
    let planted = limited(&format!("ln -s {} oom", decoy.display()));
    if planted.status.code() == Some(125) {
        bail!(Skip(format!("memory can't be limited: {}", String::from_utf8_lossy(&planted.stderr))));
    }
    ensure!(fs::read_link(place.path().join("oom"))? == decoy, "the control: the link is there");
    let output = limited(TOO_MUCH);
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(said.contains("out of memory") || said.contains("--memory"), "the control: {output:?}");
    ensure!(!decoy.exists(), "the link was followed");
    Ok(())
}
