//! Why a cell could not be made, in words the host can act on.
//!
//! The host falls back to weaker walls only where namespaces are forbidden, never because a mount is wrong: the
//! two are told apart here, at the step that failed, and nowhere else.

use std::fmt;

use rustix::io::Errno;

/// Begins every message that means "this host does not let us make namespaces".
pub(crate) use exec_wire::NAMESPACES_UNAVAILABLE as UNAVAILABLE;

/// A step that could not be taken.
#[derive(Debug)]
pub(crate) struct Fail(String);

impl Fail {
    /// A step that failed on account of what was asked for.
    pub(crate) fn new(what: &str, on: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self(format!("{what}: {on}: {why}"))
    }

    /// A step every cell needs: if the host forbids it, the host forbids namespaces.
    pub(crate) fn wall(what: &str, on: impl fmt::Display, why: Errno) -> Self {
        if why == Errno::NOSYS {
            return Self(format!("{UNAVAILABLE}kernel too old (5.12 is needed): {what}: {on}: {why}"));
        }
        let forbidden = [Errno::PERM, Errno::ACCESS, Errno::NOSPC, Errno::INVAL, Errno::USERS];
        let prefix = if forbidden.contains(&why) { UNAVAILABLE } else { "" };
        Self(format!("{prefix}{what}: {on}: {why}"))
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path as people read it.
pub(crate) fn show(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_wall_is_told_apart_from_a_wrong_request() {
        assert!(Fail::wall("clone", "user", Errno::PERM).to_string().starts_with(UNAVAILABLE));
        assert!(Fail::wall("fsopen", "tmpfs", Errno::NOSYS).to_string().contains("kernel too old"));
        assert!(!Fail::wall("clone", "user", Errno::NOMEM).to_string().starts_with(UNAVAILABLE));
        assert!(!Fail::new("bind", "/x", Errno::PERM).to_string().starts_with(UNAVAILABLE));
    }
}
