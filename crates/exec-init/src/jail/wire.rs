//! The keeper's own input and diagnostics.

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

/// Writes a diagnostic to the keeper's standard error.
pub(super) fn diagnose(text: &str) {
    let _ = rustix::io::write(rustix::stdio::stderr(), format!("exec-init: {text}\n").as_bytes());
}
