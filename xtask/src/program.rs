//! `cargo xtask program`: builds `agentctl` as it is meant to be installed, linked statically.
//!
//! A program that shares the system's C library shares the kernel's locks on that file with every process that forks. Amid
//! a few hundred that do nothing else it may take a minute until such a program has started, and `agentctl kill` is for
//! that very moment. One that shares nothing starts at once, and a little faster at any other time.

use std::env::consts;
use std::path::PathBuf;

use anyhow::Result;

use crate::cargo::{cargo, metadata, run as run_command};
use crate::setup;

/// The architectures of the cells that the program can make, on engines elsewhere too.
const CELLS: [&str; 2] = ["x86_64", "aarch64"];

/// Builds it and says where it is.
pub(crate) fn run() -> Result<()> {
    println!("{}", build()?.display());
    Ok(())
}

/// Builds it, for speed. Where it can't be linked statically it is built all the same, and that is said.
pub(crate) fn build() -> Result<PathBuf> {
    let target = if cfg!(target_os = "linux") { static_target() } else { None };
    for arch in CELLS {
        let added = setup::add_static_target(arch).map(drop);
        setup::note(added, &format!("engines whose containers run on {arch} are refused"));
    }
    let mut build = cargo(&["build", "--release", "-p", "agentctl"]);
    build.args(target.iter().flat_map(|target| ["--target", target]));
    run_command(&mut build)?;
    let mut path = metadata()?.target_directory;
    path.extend(target);
    Ok(path.join("release").join("agentctl").with_extension(std::env::consts::EXE_EXTENSION))
}

fn static_target() -> Option<String> {
    let added = setup::add_static_target(consts::ARCH);
    let target = added.as_ref().ok().cloned();
    setup::note(
        added.map(drop),
        "the program shares the system's C library: amid a fork bomb it starts late",
    );
    target
}
