//! Signals by number and name.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::ParseValueError;

/// Names by number, as on Linux.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// A signal (1 to 64).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signal(i32);

impl Signal {
    /// Hang-up.
    pub const HUP: Self = Self(1);
    /// Interrupt, as Ctrl-C sends it.
    pub const INT: Self = Self(2);
    /// Quit.
    pub const QUIT: Self = Self(3);
    /// Kill; can't be caught.
    pub const KILL: Self = Self(9);
    /// The first signal for the program's own use.
    pub const USR1: Self = Self(10);
    /// Terminate, politely.
    pub const TERM: Self = Self(15);

    /// The signal with this number, if there is one.
    pub const fn new(number: i32) -> Option<Self> {
        if number >= 1 && number <= 64 { Some(Self(number)) } else { None }
    }

    /// The signal's number.
    pub const fn number(self) -> i32 {
        self.0
    }
}

impl FromStr for Signal {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let upper = text.to_ascii_uppercase();
        let name = upper.strip_prefix("SIG").unwrap_or(&upper);
        let number = match NAMES.iter().position(|known| *known == name) {
            Some(index) => Some(index as i32 + 1),
            None => name.parse().ok(),
        };
        number.and_then(Self::new).ok_or_else(|| {
            ParseValueError::new(text, "a signal", "use a name like `TERM` or a number from 1 to 64")
        })
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(self.0 as usize - 1) {
            Some(name) => write!(f, "SIG{name}"),
            None => write!(f, "SIG{}", self.0),
        }
    }
}

impl Serialize for Signal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        for text in ["TERM", "sigterm", "15"] {
            assert_eq!(text.parse(), Ok(Signal::TERM));
        }
        assert_eq!(Signal::KILL.to_string(), "SIGKILL");
        assert!(
            "0".parse::<Signal>().is_err()
                && "65".parse::<Signal>().is_err()
                && "NOPE".parse::<Signal>().is_err()
        );
    }
}
