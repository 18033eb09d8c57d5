//! Shares of the machine's processors.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::ParseValueError;

/// A number of CPUs, in thousandths: `0.5`, `2`, `1.25`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cpus(u32);

impl Cpus {
    /// Whole CPUs.
    pub const fn whole(count: u16) -> Self {
        Self(count as u32 * 1000)
    }

    /// Thousandths of a CPU.
    pub const fn milli(self) -> u64 {
        self.0 as u64
    }
}

impl FromStr for Cpus {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = |fix: &str| ParseValueError::new(text, "a number of CPUs", fix);
        let value: f64 = text.parse().map_err(|_| bad("write a number like `2` or `0.5`"))?;
        if !value.is_finite() || value < 0.01 {
            return Err(bad("it must be at least 0.01"));
        }
        if value > 8192.0 {
            return Err(bad("no machine has that many; the most is 8192"));
        }
        Ok(Self((value * 1000.0).round() as u32))
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1000.0)
    }
}

impl Serialize for Cpus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2", 2000)]
    #[case("0.5", 500)]
    #[case("1.25", 1250)]
    fn reads_whole_and_broken_numbers(#[case] text: &str, #[case] milli: u64) {
        assert_eq!(text.parse::<Cpus>().unwrap().milli(), milli);
    }

    #[rstest]
    #[case("0")]
    #[case("-1")]
    #[case("NaN")]
    #[case("inf")]
    #[case("two")]
    #[case("100000")]
    fn refuses_nonsense(#[case] text: &str) {
        assert!(text.parse::<Cpus>().is_err());
    }
}
