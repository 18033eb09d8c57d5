//! Known releases of toolchains, for projects that leave the choice open.

use crate::version::Version;

/// Versions to choose from if a project gives a range, the preferred one first; those with long-term support lead.
pub(crate) const NODE: &[Version] = &[
    Version::whole(24),
    Version::whole(22),
    Version::whole(20),
    Version::whole(18),
    Version::whole(16),
    Version::whole(14),
    Version::whole(25),
    Version::whole(23),
    Version::whole(21),
    Version::whole(19),
    Version::whole(17),
];
pub(crate) const PYTHON: &[Version] = &[
    Version::of(3, 13),
    Version::of(3, 12),
    Version::of(3, 11),
    Version::of(3, 10),
    Version::of(3, 14),
    Version::of(3, 9),
    Version::of(3, 8),
    Version::of(3, 7),
];
pub(crate) const RUBY: &[Version] = &[
    Version::of(3, 4),
    Version::of(3, 3),
    Version::of(3, 2),
    Version::of(3, 1),
    Version::of(3, 0),
    Version::of(2, 7),
];
pub(crate) const GO: Version = Version::of(1, 25);
pub(crate) const RUST: Version = Version::of(1, 90);
pub(crate) const JAVA: &[Version] =
    &[Version::whole(21), Version::whole(25), Version::whole(17), Version::whole(11), Version::whole(8)];
pub(crate) const MAVEN: &str = "3.9";
pub(crate) const GRADLE: &str = "8";

/// Names that `.nvmrc` may use for LTS versions of Node.
pub(crate) const NODE_NAMES: &[(&str, u32)] =
    &[("krypton", 24), ("jod", 22), ("iron", 20), ("hydrogen", 18), ("gallium", 16), ("fermium", 14)];

/// Package managers that no image includes, each at a version known to work.
pub(crate) const UV: &str = "0.9.9";
pub(crate) const POETRY: &str = "2.2.1";
pub(crate) const PDM: &str = "2.26.1";
pub(crate) const PIPENV: &str = "2025.0.4";
pub(crate) const PNPM: &str = "10";
pub(crate) const YARN: &str = "4";
pub(crate) const YARN_CLASSIC: &str = "1.22.22";
pub(crate) const BUN: &str = "1";

/// The first versions whose images are built on Debian bookworm: one for each line that was maintained at its
/// release.
pub(crate) const NODE_ON_BOOKWORM: &[Version] =
    &[Version::exact(16, 20, 1), Version::exact(18, 16, 1), Version::exact(20, 3, 0)];
pub(crate) const PYTHON_ON_BOOKWORM: &[Version] = &[
    Version::exact(3, 7, 17),
    Version::exact(3, 8, 17),
    Version::exact(3, 9, 17),
    Version::exact(3, 10, 12),
    Version::exact(3, 11, 4),
];
pub(crate) const RUBY_ON_BOOKWORM: &[Version] =
    &[Version::exact(3, 0, 6), Version::exact(3, 1, 4), Version::exact(3, 2, 2)];
pub(crate) const GO_ON_BOOKWORM: &[Version] = &[Version::exact(1, 19, 10), Version::exact(1, 20, 5)];
pub(crate) const RUST_ON_BOOKWORM: &[Version] = &[Version::exact(1, 70, 0)];

/// The Debian release of a version's image: bullseye before bookworm.
pub(crate) fn debian(version: Version, firsts: &[Version]) -> &'static str {
    let is_first = |first: &&Version| version.newest() >= first.newest();
    let by_major = firsts.windows(2).any(|pair| pair[0].major != pair[1].major);
    let line = |version: Version| if by_major { version.line() } else { version.series() };
    let of_its_line = firsts.iter().find(|first| line(version) == line(**first));
    let on_bookworm = match of_its_line {
        Some(first) => is_first(&first),
        None => firsts.iter().all(|first| is_first(&first)),
    };
    if on_bookworm { "bookworm" } else { "bullseye" }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("3.12", PYTHON_ON_BOOKWORM, "bookworm")]
    #[case("3.11", PYTHON_ON_BOOKWORM, "bookworm")]
    #[case("3.11.3", PYTHON_ON_BOOKWORM, "bullseye")]
    #[case("3.6", PYTHON_ON_BOOKWORM, "bullseye")]
    #[case("18", NODE_ON_BOOKWORM, "bookworm")]
    #[case("18.12.0", NODE_ON_BOOKWORM, "bullseye")]
    #[case("19", NODE_ON_BOOKWORM, "bullseye")]
    #[case("14", NODE_ON_BOOKWORM, "bullseye")]
    #[case("1.69", RUST_ON_BOOKWORM, "bullseye")]
    fn old_versions_have_old_images(
        #[case] version: &str,
        #[case] firsts: &[Version],
        #[case] expected: &str,
    ) {
        assert_eq!(debian(Version::parse(version).unwrap(), firsts), expected);
    }
}
