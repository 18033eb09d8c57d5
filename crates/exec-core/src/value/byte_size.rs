//! Amounts of memory and storage.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::ParseValueError;

/// A number of bytes, written like `512m`, `2g`, `1.5GiB` or `1048576`. Units are powers of 1024, as engines read them.
///
/// # Examples
///
/// ```
/// use exec_core::ByteSize;
///
/// assert_eq!("512m".parse(), Ok(ByteSize::mib(512)));
/// assert_eq!(ByteSize::gib(2).to_string(), "2 GiB");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Exactly this many bytes.
    pub const fn bytes(count: u64) -> Self {
        Self(count)
    }

    /// Mebibytes.
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// Gibibytes.
    pub const fn gib(count: u64) -> Self {
        Self(count << 30)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for ByteSize {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = |fix: &str| ParseValueError::new(text, "a size", fix);
        let example = "write a number and a unit, like `512m` or `2g`";
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let shift = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => return Err(bad(&format!("the unit is b, k, m, g or t; {example}"))),
        };
        let value = match number.parse::<u64>() {
            Ok(whole) => whole.checked_mul(1 << shift),
            Err(_) => fractional(number, shift),
        };
        match value {
            Some(0) => Err(bad("it must be more than 0; leave the option out for the default")),
            Some(bytes) if i64::try_from(bytes).is_ok() => Ok(Self(bytes)),
            Some(_) => Err(bad("no machine has that much")),
            None if number.is_empty() => Err(bad(example)),
            None => Err(bad(&format!("the number is malformed or too large; {example}"))),
        }
    }
}

fn fractional(number: &str, shift: u32) -> Option<u64> {
    let value = number.parse::<f64>().ok()? * (1u64 << shift) as f64;
    (value.is_finite() && value < i64::MAX as f64).then_some(value as u64)
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        for (shift, unit) in units {
            if self.0 >= 1 << shift {
                let tenths = (u128::from(self.0) * 10) >> shift;
                return match tenths % 10 {
                    0 => write!(f, "{} {unit}", tenths / 10),
                    tenth => write!(f, "{}.{tenth} {unit}", tenths / 10),
                };
            }
        }
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("512m", 512 << 20)]
    #[case("2G", 2 << 30)]
    #[case("1.5GiB", 3 << 29)]
    #[case("4096", 4096)]
    #[case("10 kb", 10 << 10)]
    fn reads_the_usual_spellings(#[case] text: &str, #[case] bytes: u64) {
        assert_eq!(text.parse(), Ok(ByteSize(bytes)));
    }

    #[rstest]
    #[case("")]
    #[case("0")]
    #[case("-1")]
    #[case("512x")]
    #[case("m")]
    #[case("99999999999999999999")]
    #[case("9999999t")]
    #[case("1.2.3g")]
    fn refuses_nonsense_and_says_what_was_given(#[case] text: &str) {
        let message = text.parse::<ByteSize>().unwrap_err().to_string();
        assert!(message.starts_with(&format!("`{text}` is not a size: ")), "{message}");
    }

    #[test]
    fn shows_whole_and_broken_units() {
        assert_eq!(ByteSize::gib(2).to_string(), "2 GiB");
        assert_eq!(ByteSize(3 << 29).to_string(), "1.5 GiB");
        assert_eq!(ByteSize(12).to_string(), "12 B");
    }
}
