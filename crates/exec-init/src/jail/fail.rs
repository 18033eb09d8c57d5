//! Why a cell could not be made, in words the host can act on.
//!
//! The host falls back to weaker walls only where namespaces are forbidden, never because a mount is wrong.
//! The two are distinguished here, at the step that failed, and nowhere else.

use std::fmt;

use exec_wire::Fatal;
use rustix::io::Errno;

/// A step that failed.
#[derive(Debug)]
pub(crate) struct Fail(pub(crate) Fatal);

impl Fail {
    /// A step that failed because of the request.
    pub(crate) fn new(what: &str, on: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self(Fatal::Other(format!("{what}: {on}: {why}")))
    }

    /// A step every cell needs: if the host forbids it, the host forbids namespaces.
    pub(crate) fn wall(what: &str, on: impl fmt::Display, why: Errno) -> Self {
        if why == Errno::NOSYS {
            let why = format!("kernel too old (5.12 is needed): {what}: {on}: {why}");
            return Self(Fatal::NamespacesUnavailable(why));
        }
        let forbidden = [Errno::PERM, Errno::ACCESS, Errno::NOSPC, Errno::INVAL, Errno::USERS];
        let is_forbidden = forbidden.contains(&why);
        let why = format!("{what}: {on}: {why}");
        Self(if is_forbidden { Fatal::NamespacesUnavailable(why) } else { Fatal::Other(why) })
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
        let unavailable = |fail: Fail| matches!(fail.0, Fatal::NamespacesUnavailable(_));
        assert!(unavailable(Fail::wall("clone", "user", Errno::PERM)));
        let old = Fail::wall("fsopen", "tmpfs", Errno::NOSYS);
        assert!(old.0.to_string().contains("kernel too old") && unavailable(old));
        assert!(!unavailable(Fail::wall("clone", "user", Errno::NOMEM)));
        assert!(!unavailable(Fail::new("bind", "/x", Errno::PERM)));
    }
}
