//! Graphics processors as people request them.

use std::fmt;
use std::str::FromStr;

use super::ParseValueError;

/// Which of the machine's graphics processors a command may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gpus {
    /// All of them.
    All,
    /// This many.
    Count(u16),
}

impl FromStr for Gpus {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ParseValueError::new(text, "a number of GPUs", "write `all`, or how many");
        match text {
            "all" => Ok(Self::All),
            _ => text.parse().ok().filter(|count| *count > 0).map(Self::Count).ok_or_else(bad),
        }
    }
}

impl fmt::Display for Gpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Count(count) => write!(f, "{count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R43
    #[test]
    fn all_or_some_but_not_none() {
        assert_eq!("all".parse(), Ok(Gpus::All));
        assert_eq!("2".parse(), Ok(Gpus::Count(2)));
        for text in ["", "0", "-1", "ALL", "1.5"] {
            assert!(text.parse::<Gpus>().is_err(), "{text}");
        }
    }
}
