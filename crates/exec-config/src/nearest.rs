//! Suggestions for misspelt names.

/// The largest accepted edit distance: two slips, or a third of a long name.
fn tolerance(name: &str) -> usize {
    2.max(name.chars().count() / 3)
}

/// The candidate nearest to a name, if it is close enough to be a misspelling.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace('-', "_");
    let wanted = plain(name);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&wanted, &plain(candidate)), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= tolerance(candidate))
        .map(|(_, candidate)| candidate)
}

/// A clause to append to an error: the likely name, or else all valid ones.
pub fn hint(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", candidates.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let keys = ["memory", "mounts", "cpus", "open_files", "idle_timeout", "timeout"];
        let of = |name| nearest(name, keys);
        assert_eq!(of("memroy"), Some("memory"));
        assert_eq!(of("openFiles"), Some("open_files"));
        assert_eq!(of("open-files"), Some("open_files"));
        assert_eq!(of("timeouts"), Some("timeout"));
        assert_eq!(of("privileged"), None);
    }
}
