//! What the keeper itself reads and says.

use exec_wire::{JailSpec, ToCell};

use super::fail::Fail;
use crate::preface;

/// Reads the cell's specification from standard input.
pub(super) fn read_spec() -> Result<JailSpec, Fail> {
    let (header, payload) = preface::read_frame().map_err(|error| broken(&error))?;
    match ToCell::decode(&header, &payload).map_err(|error| broken(&error))? {
        ToCell::Jail(spec) => Ok(*spec),
        _ => Err(broken(&"another frame came first")),
    }
}

fn broken(why: &dyn std::fmt::Display) -> Fail {
    Fail::new("read", "the cell's specification", why)
}

/// Says something to whoever reads the keeper's diagnostics.
pub(super) fn diagnose(text: &str) {
    let _ = rustix::io::write(rustix::stdio::stderr(), format!("exec-init: {text}\n").as_bytes());
}
