//! Version numbers of toolchains.

use std::fmt;

/// A version, as precise as given: `18`, `3.12` or `1.82.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) major: u32,
    pub(crate) minor: Option<u32>,
    pub(crate) patch: Option<u32>,
}

impl Version {
    pub(crate) const fn of(major: u32, minor: u32) -> Self {
        Self { major, minor: Some(minor), patch: None }
    }

    pub(crate) const fn exact(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor: Some(minor), patch: Some(patch) }
    }

    pub(crate) const fn whole(major: u32) -> Self {
        Self { major, minor: None, patch: None }
    }

    /// Parses `1`, `1.2`, `v1.2.3`, and the leading version in `1.22rc1` or `1.8.0_392`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut numbers = text.split('.').map(leading_number);
        let major = numbers.next()??;
        let minor = numbers.next().flatten();
        let patch = minor.and_then(|_| numbers.next().flatten());
        Some(Self { major, minor, patch })
    }

    /// Without the patch: images of a minor version receive its fixes.
    pub(crate) fn series(self) -> Self {
        Self { patch: None, ..self }
    }

    /// Only the major version, for toolchains with compatible minor versions.
    pub(crate) fn line(self) -> Self {
        Self::whole(self.major)
    }

    /// The newest version it can stand for.
    pub(crate) fn newest(self) -> (u32, u32, u32) {
        (self.major, self.minor.unwrap_or(u32::MAX), self.patch.unwrap_or(u32::MAX))
    }

    /// The oldest version it can stand for.
    pub(crate) fn first(self) -> (u32, u32, u32) {
        (self.major, self.minor.unwrap_or(0), self.patch.unwrap_or(0))
    }

    /// Whether one is a less precise form of the other.
    pub(crate) fn agrees_with(self, other: Self) -> bool {
        let same = |a: Option<u32>, b: Option<u32>| a.is_none() || b.is_none() || a == b;
        self.major == other.major && same(self.minor, other.minor) && same(self.patch, other.patch)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.major)?;
        for part in [self.minor, self.patch].into_iter().map_while(|part| part) {
            write!(f, ".{part}")?;
        }
        Ok(())
    }
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("18", "18")]
    #[case("v20.11.1", "20.11.1")]
    #[case(" 3.12\n", "3.12")]
    #[case("1.22rc1", "1.22")]
    #[case("18.x", "18")]
    #[case("1.8.0_392", "1.8.0")]
    fn reads_what_files_say(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(Version::parse(text).unwrap().to_string(), expected);
    }

    #[rstest]
    #[case("lts/iron")]
    #[case("")]
    #[case("99999999999999999999")]
    fn invalid_versions_are_none(#[case] text: &str) {
        assert_eq!(Version::parse(text), None);
    }

    #[test]
    fn a_shorter_name_agrees() {
        let version = |text| Version::parse(text).unwrap();
        assert!(version("3.12").agrees_with(version("3.12.4")));
        assert!(!version("3.12").agrees_with(version("3.11.9")));
    }
}
