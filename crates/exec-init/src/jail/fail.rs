//! Why a cell could not be made, in words the host can act on.
//!
//! The host falls back to weaker walls only where namespaces are forbidden, never because a mount is wrong.
//! The two are distinguished here, at the step that failed, and nowhere else.

use std::fmt;

use rustix::io::Errno;

/// The prefix of every message that means "this host does not let us make namespaces".
pub(crate) use exec_wire::NAMESPACES_UNAVAILABLE as UNAVAILABLE;

/// A step that failed.
#[derive(Debug)]
pub(crate) struct Fail(String);

impl Fail {
    /// A step that failed because of the request.
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

/// A path for display.
pub(crate) fn show(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_wall_is_distinguished_from_a_wrong_request() {
        assert!(Fail::wall("clone", "user", Errno::PERM).to_string().starts_with(UNAVAILABLE));
        assert!(Fail::wall("fsopen", "tmpfs", Errno::NOSYS).to_string().contains("kernel too old"));
        assert!(!Fail::wall("clone", "user", Errno::NOMEM).to_string().starts_with(UNAVAILABLE));
        assert!(!Fail::new("bind", "/x", Errno::PERM).to_string().starts_with(UNAVAILABLE));
    }
}
