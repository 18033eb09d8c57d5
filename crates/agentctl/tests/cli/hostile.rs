//! The host side works on a workspace in which every name that it could read or create is something
//! unexpected.

use std::path::Path;

use rstest::rstest;

use crate::support::Place;
use crate::support::hostile::{
    Build, Decoy, Kind, Layout, answers, commands, fill, names_in_the_source, save_output_to,
};

/// R29, A3, A39, A43, A44, A46: whatever a command planted under whatever name, each `agentctl` command
/// answers and changes nothing outside.
#[rstest]
fn every_command_of_ours(
    #[values(Layout::All, Layout::WithoutConfiguration, Layout::WithoutRepository, Layout::Nested)]
    layout: Layout,
) {
    let names = names_in_the_source();
    for kind in Kind::ALL {
        let (place, decoy) = (Place::new(), Decoy::new());
        fill(&place, &decoy, &names, kind, layout);
        for args in commands(layout, &[], Build::No) {
            answers(&place, &decoy, &args, "");
        }
        if layout == Layout::WithoutRepository {
            answers(&place, &decoy, &["mcp"], &save_output_to("Cargo.toml"));
            answers(&place, &decoy, &["doctor"], "");
        }
    }
}

/// A32: the host side never takes its programs from a directory that a command could write, even if the
/// search path begins there or a link leads there.
#[test]
fn programs_on_the_search_path() {
    let place = Place::new();
    let planted = "mkdir -p .venv/bin; for name in podman docker git; do \
                   printf '#!/bin/sh\\ntouch \"%s\"\\nexit 1\\n' \"$PWD/.venv/was-run\" > .venv/bin/$name; \
                   chmod +x .venv/bin/$name; done";
    assert!(place.output(["run", "--", "sh", "-c", planted]).status.success());
    let bin = place.path().join(".venv/bin");
    let links = tempfile::tempdir().unwrap();
    for name in ["podman", "docker", "git"] {
        std::os::unix::fs::symlink(bin.join(name), links.path().join(name)).unwrap();
    }
    let run = |first: &Path, args: &[&str]| {
        let own = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([first.to_owned()].into_iter().chain(std::env::split_paths(&own))).unwrap();
        place.agentctl(args).env("PATH", path).env_remove("AGENTCTL_SANDBOX").output().unwrap();
    };
    for args in [
        &["doctor"][..],
        &["run", "--", "true"],
        &["gc"],
        &["ps"],
        &["images", "ls"],
        &["run", "--sandbox", "podman", "--", "true"],
    ] {
        for first in [&bin, links.path()] {
            run(first, args);
            assert!(!place.path().join(".venv/was-run").exists(), "{args:?} ran what was planted");
        }
    }
    assert!(!std::process::Command::new(bin.join("podman")).status().unwrap().success());
    assert!(place.path().join(".venv/was-run").exists(), "the control");
}
