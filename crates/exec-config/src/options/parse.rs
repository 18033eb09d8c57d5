//! Text to values. Every error message names the given value and a valid one.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use exec_core::{Limit, User, parse_duration};

/// The word that lifts a limit.
pub(crate) const UNLIMITED: &str = "unlimited";

/// The kernel's own bound on process ids; a larger count of anything per run is a typo.
const MOST: u32 = 1 << 22;

/// A limit on any value that can be parsed from text.
pub(crate) fn limit<T>(text: &str) -> Result<Limit<T>, String>
where
    T: FromStr,
    T::Err: Display,
{
    limit_by(text, str::parse)
}

/// A limit on time.
pub(crate) fn time(text: &str) -> Result<Limit<Duration>, String> {
    limit_by(text, parse_duration)
}

/// A limit on processes or files.
pub(crate) fn count(text: &str) -> Result<Limit<u32>, String> {
    limit_by(text, |text| match text.parse() {
        Ok(number) if (1..=MOST).contains(&number) => Ok(number),
        _ => Err(format!("`{text}` is not a count: write a whole number from 1 to {MOST}, like `256`")),
    })
}

fn limit_by<T, E: Display>(text: &str, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<Limit<T>, String> {
    if text == UNLIMITED {
        return Ok(Limit::Unlimited);
    }
    parse(text).map(Limit::Exactly).map_err(|error| error.to_string())
}

/// A user by numbers; a missing group defaults to the user's number.
pub(crate) fn user(text: &str) -> Result<User, String> {
    let (uid, gid) = text.split_once(':').unwrap_or((text, text));
    match (uid.parse(), gid.parse()) {
        (Ok(uid), Ok(gid)) => Ok(User::Id { uid, gid }),
        _ => Err(format!("`{text}` is not a user: write numbers, like `1000` or `1000:1000`")),
    }
}

#[cfg(test)]
mod tests {
    use exec_core::ByteSize;

    use super::*;

    #[test]
    fn a_limit_is_a_value_or_lifted() {
        assert_eq!(limit("2g"), Ok(Limit::Exactly(ByteSize::gib(2))));
        assert_eq!(limit::<ByteSize>("unlimited"), Ok(Limit::Unlimited));
        assert_eq!(time("5m"), Ok(Limit::Exactly(Duration::from_secs(300))));
        assert_eq!(count("7"), Ok(Limit::Exactly(7)));
    }

    #[test]
    fn counts_are_sane() {
        for text in ["0", "-1", "1.5", "4194305", "", "many"] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_group_follows_its_user() {
        assert_eq!(user("5"), Ok(User::Id { uid: 5, gid: 5 }));
        assert_eq!(user("5:7"), Ok(User::Id { uid: 5, gid: 7 }));
        for text in ["", "root", "5:", ":5", "5:6:7", "-1"] {
            assert!(user(text).is_err(), "{text}");
        }
    }
}
