//! Builds the program of this package as a static file for the library to embed.
//!
//! With the `embed` feature off - as in that very build - there is nothing to do.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use static_build::{Features, Program};

fn main() -> ExitCode {
    static_build::exit_code(embed())
}

fn embed() -> Result<(), String> {
    println!("cargo::rustc-check-cfg=cfg(exec_init_embedded)");
    println!("cargo::rerun-if-changed=build.rs");
    if !is_wanted() {
        return Ok(());
    }
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(|error| error.to_string())?);
    let built =
        static_build::build(Program { package: &package, bin: "exec-init", features: Features::Off })?;
    for source in &built.sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    println!("cargo::rustc-cfg=exec_init_embedded");
    println!("cargo::rustc-env=EXEC_INIT_PROGRAM={}", built.path.display());
    println!("cargo::rustc-env=EXEC_INIT_TARGET={}", built.target);
    Ok(())
}

/// Only Linux has cells, and only two architectures a system call filter.
fn is_wanted() -> bool {
    let is = |name: &str, values: &[&str]| env::var(name).is_ok_and(|value| values.contains(&value.as_str()));
    env::var_os("CARGO_FEATURE_EMBED").is_some()
        && is("CARGO_CFG_TARGET_OS", &["linux"])
        && is("CARGO_CFG_TARGET_ARCH", &["x86_64", "aarch64"])
}
