//! The versions a project accepts, in npm's, Python's and Ruby's syntax, as far as they concern toolchains.
//!
//! Ranges are always checked against a *series* (`3.12`, `18`). An image of a series has its newest patch, so that
//! patch is compared.

use crate::version::Version;

/// Alternatives, each a list of conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range(Vec<Vec<Bound>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    AtLeast(Version),
    Above(Version),
    AtMost(Version),
    Below(Version),
    Is(Version),
    Not(Version),
    /// `^`: nothing may change up to the first number that is not zero.
    Compatible(Version),
    /// `~`, `~=`, `~>`: the last number given may grow.
    Approximately(Version),
}

impl Range {
    /// `None` for text that is not a range, like `latest`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.split("||").map(alternative).collect::<Option<Vec<_>>>().map(Self)
    }

    /// The versions it names: all that is known of a range newer than the known versions.
    pub(crate) fn named(&self) -> impl Iterator<Item = Version> {
        self.0.iter().flatten().map(|bound| bound.version())
    }

    pub(crate) fn accepts(&self, series: Version) -> bool {
        self.0.iter().any(|bounds| bounds.iter().all(|bound| bound.accepts(series)))
    }
}

fn alternative(text: &str) -> Option<Vec<Bound>> {
    if let Some((low, high)) = text.split_once(" - ") {
        return Some(vec![Bound::AtLeast(Version::parse(low)?), Bound::AtMost(Version::parse(high)?)]);
    }
    let mut bounds = Vec::new();
    let mut operator = String::new();
    for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
        let version = word.trim_start_matches(['<', '>', '=', '~', '^', '!']);
        operator.push_str(&word[..word.len() - version.len()]);
        // A space may separate an operator and its version.
        if version.is_empty() {
            continue;
        }
        if !matches!(version, "*" | "x" | "X") {
            bounds.push(bound(&operator, Version::parse(version)?)?);
        }
        operator.clear();
    }
    operator.is_empty().then_some(bounds)
}

fn bound(operator: &str, version: Version) -> Option<Bound> {
    Some(match operator {
        "" | "=" | "==" | "===" => Bound::Is(version),
        ">=" => Bound::AtLeast(version),
        ">" => Bound::Above(version),
        "<=" => Bound::AtMost(version),
        "<" => Bound::Below(version),
        "!=" => Bound::Not(version),
        "^" => Bound::Compatible(version),
        "~" if version.patch.is_none() => Bound::Is(version),
        "~" | "~=" | "~>" => Bound::Approximately(version),
        _ => return None,
    })
}

impl Bound {
    fn version(self) -> Version {
        match self {
            Self::AtLeast(version)
            | Self::Above(version)
            | Self::AtMost(version)
            | Self::Below(version)
            | Self::Is(version)
            | Self::Not(version)
            | Self::Compatible(version)
            | Self::Approximately(version) => version,
        }
    }

    fn accepts(self, series: Version) -> bool {
        let newest_there = series.newest();
        match self {
            Self::AtLeast(version) => newest_there >= version.first(),
            Self::Above(version) => newest_there > version.newest(),
            Self::AtMost(version) => series.agrees_with(version) || newest_there <= version.newest(),
            Self::Below(version) => newest_there < version.first(),
            Self::Is(version) => series.agrees_with(version),
            // Excluding one patch does not exclude the newest one.
            Self::Not(version) => version.patch.is_some() || !series.agrees_with(version),
            Self::Compatible(version) if version.major == 0 => series.agrees_with(version.series()),
            Self::Compatible(version) => series.major == version.major && newest_there >= version.first(),
            Self::Approximately(version) => {
                let kept = if version.patch.is_some() { version.series() } else { version.line() };
                series.agrees_with(kept) && newest_there >= version.first()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(">=3.9,<3.13", "3.12", true)]
    #[case(">=3.9,<3.13", "3.13", false)]
    #[case(">=3.9.2", "3.9", true)]
    #[case(">= 18", "22", true)]
    #[case(">3.8", "3.8", false)]
    #[case("<=3.12", "3.12", true)]
    #[case("~=3.10", "3.12", true)]
    #[case("~=3.10", "4.0", false)]
    #[case("~=3.10.2", "3.11", false)]
    #[case("==3.11.*", "3.11", true)]
    #[case(">=3.8,!=3.9.*", "3.9", false)]
    #[case(">=3.8,!=3.9.1", "3.9", true)]
    #[case("^3.9", "3.12", true)]
    #[case("^18.0.0 || >=20", "19", false)]
    #[case("^18.0.0 || >=20", "22", true)]
    #[case("18.x", "18", true)]
    #[case("18 - 20", "20", true)]
    #[case("18 - 20", "21", false)]
    #[case("~> 3.2", "3.4", true)]
    #[case("~> 3.2.1", "3.3", false)]
    #[case("~20.1", "20", true)]
    #[case("*", "22", true)]
    #[case(">=20.5", "20", true)]
    #[case("<18.20", "18", false)]
    fn a_series_is_in_it_or_not(#[case] range: &str, #[case] series: &str, #[case] expected: bool) {
        let (range, series) = (Range::parse(range).unwrap(), Version::parse(series).unwrap());
        assert_eq!(range.accepts(series), expected);
    }

    #[rstest]
    #[case("latest")]
    #[case(">=")]
    #[case("workspace:*")]
    fn invalid_ranges_are_none(#[case] text: &str) {
        assert_eq!(Range::parse(text), None);
    }
}
