//! `cargo xtask program`: builds `agentctl` as it is installed, linked statically.
//!
//! A dynamically linked program shares the kernel's locks on the C library's file with every process that
//! forks. Amid a few hundred processes that only fork, such a program may take a minute to start, and
//! `agentctl kill` is made for exactly that moment. A static program starts at once, and a little faster at
//! any other time.

use std::env::consts;
use std::path::PathBuf;

use anyhow::Result;

use crate::cargo::{cargo, metadata, run as run_command};
use crate::setup;

/// The architectures of the cells that the program can make, also on remote engines.
const CELLS: [&str; 2] = ["x86_64", "aarch64"];

/// Builds it and prints its path.
pub(crate) fn run() -> Result<()> {
    println!("{}", build()?.display());
    Ok(())
}

/// Builds it, optimised. If it can't be linked statically, it is linked dynamically and a message says so.
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
    setup::note(added.map(drop), "the program is linked dynamically: amid a fork bomb it starts late");
    target
}
