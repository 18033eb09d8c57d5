//! Mounts as people write them: `src:dst[:ro|rw]`.

use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use super::ParseValueError;

/// Read-only or writable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Read only.
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

/// A host path to show inside a cell.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct MountSpec {
    /// Host path, which must exist when the run starts.
    pub source: PathBuf,
    /// Absolute path inside, without `..`.
    pub target: PathBuf,
    /// Read-only or writable.
    pub access: Access,
}

impl MountSpec {
    /// A read-only mount at the same path inside.
    pub fn read_only(path: impl Into<PathBuf>) -> Self {
        let source = path.into();
        Self { target: source.clone(), source, access: Access::ReadOnly }
    }

    /// A writable mount at the same path inside.
    pub fn read_write(path: impl Into<PathBuf>) -> Self {
        Self { access: Access::ReadWrite, ..Self::read_only(path) }
    }

    /// Places the mount at another path inside.
    #[must_use]
    pub fn at(mut self, target: impl Into<PathBuf>) -> Self {
        self.target = target.into();
        self
    }
}

impl FromStr for MountSpec {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = |fix: &str| ParseValueError::new(text, "a mount", fix);
        let shape = "write `SRC`, `SRC:DST` or `SRC:DST:ro|rw`";
        let mut parts: Vec<&str> = text.split(':').collect();
        let access = match parts.last() {
            Some(&"rw") => Some(Access::ReadWrite),
            Some(&"ro") => Some(Access::ReadOnly),
            _ => None,
        };
        if access.is_some() {
            parts.pop();
        }
        let (source, target) = match parts.as_slice() {
            [source] => (*source, *source),
            [source, target] => (*source, *target),
            [_, _, mode] => return Err(bad(&format!("`{mode}` is not a mode; {shape}"))),
            _ => return Err(bad(shape)),
        };
        if source.is_empty() || target.is_empty() {
            return Err(bad(shape));
        }
        if !is_plain_absolute(Path::new(target)) {
            return Err(bad("the place inside must be an absolute path without `..`"));
        }
        Ok(Self { source: source.into(), target: target.into(), access: access.unwrap_or(Access::ReadOnly) })
    }
}

/// Whether a path is absolute and without `..`.
pub(crate) fn is_plain_absolute(path: &Path) -> bool {
    path.is_absolute() && !path.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_target_and_mode() {
        let mount: MountSpec = "/data:/app/data:rw".parse().unwrap();
        assert_eq!(mount, MountSpec::read_write("/data").at("/app/data"));
        assert_eq!("/data".parse(), Ok(MountSpec::read_only("/data")));
        assert_eq!("/data:ro".parse(), Ok(MountSpec::read_only("/data")));
    }

    #[test]
    fn refuses_relative_or_climbing_targets() {
        for text in ["", ":", "/a:b", "/a:/b/../c", "/a:/b:wr", "/a:/b:/c:rw"] {
            assert!(text.parse::<MountSpec>().is_err(), "{text}");
        }
    }
}
