//! Durations as people write them.

use std::time::Duration;

use super::ParseValueError;

/// The longest accepted duration. Anything longer is more likely a typo.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// Parses `30s`, `5m`, `1h 30m`, `250ms`, or a bare number of seconds.
///
/// # Errors
///
/// Refuses malformed text, zero, and anything longer than a year.
pub fn parse_duration(text: &str) -> Result<Duration, ParseValueError> {
    let bad = |fix: &str| ParseValueError::new(text, "a duration", fix);
    let duration = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => humantime::parse_duration(text)
            .map_err(|_| bad("write a number and a unit, like `30s`, `5m` or `250ms`"))?,
    };
    if duration.is_zero() {
        return Err(bad("it must be more than 0"));
    }
    if duration > LONGEST {
        return Err(bad("the most is a year"));
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_units_and_bare_seconds() {
        assert_eq!(parse_duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_duration("1h 30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
    }

    #[test]
    fn refuses_nonsense() {
        for text in ["", "0", "0s", "-5", "5x", "999999999999"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
