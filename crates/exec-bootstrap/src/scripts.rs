//! The scripts beside the compose files, kept as separate shell files.

use crate::header;
use crate::plan::Wishes;

/// The common beginning.
const COMMON: &str = include_str!("scripts/common.sh");

/// Path, and the text after the common beginning.
const SCRIPTS: [(&str, &str); 4] = [
    ("scripts/docker-build.sh", include_str!("scripts/build.sh")),
    ("scripts/docker-start.sh", include_str!("scripts/start.sh")),
    ("scripts/docker-stop.sh", include_str!("scripts/stop.sh")),
    ("scripts/emergency-stop.sh", include_str!("scripts/emergency-stop.sh")),
];

/// Runs inside the container, which has no compose.
const RELOAD: (&str, &str) = ("scripts/docker-reload.sh", include_str!("scripts/reload.sh"));

/// All scripts.
pub(crate) fn all(wishes: &Wishes) -> Vec<(&'static str, String)> {
    let head = format!("#!/bin/sh\n{}\n", header::lines(wishes).join("\n"));
    let with_common =
        SCRIPTS.map(|(path, text)| (path, format!("{head}{text}").replace("@COMMON@\n", COMMON)));
    with_common.into_iter().chain([(RELOAD.0, format!("{head}{}", RELOAD.1))]).collect()
}
