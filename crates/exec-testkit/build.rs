//! Builds the probe program for the library to embed.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use static_build::{Features, Program};

fn main() -> ExitCode {
    static_build::exit_code(embed())
}

fn embed() -> Result<(), String> {
    let out_dir = PathBuf::from(env::var("OUT_DIR").map_err(|error| error.to_string())?);
    let probe = out_dir.join("exec-probe");
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return fs::write(&probe, []).map_err(|error| error.to_string());
    }
    let manifest_dir = env::var("CARGO_MANIFEST_DIR").map_err(|error| error.to_string())?;
    let package = PathBuf::from(manifest_dir).join("../exec-probe");
    let built =
        static_build::build(Program { package: &package, bin: "exec-probe", features: Features::Default })?;
    for source in &built.sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    fs::copy(&built.path, &probe).map(drop).map_err(|error| error.to_string())
}
