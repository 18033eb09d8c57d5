//! Builds the program of this package as static files for the library to embed.
//!
//! With the `embed` feature off - as in that inner build - it does nothing.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use static_build::{Built, Features, Program};

/// The architectures with a system call filter, by the compiler's name and the library's.
const ARCHS: [(&str, &str); 2] = [("x86_64", "X86_64"), ("aarch64", "Aarch64")];

fn main() -> ExitCode {
    static_build::exit_code(embed())
}

fn embed() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    let built = if env::var_os("CARGO_FEATURE_EMBED").is_some() { build()? } else { Vec::new() };
    for source in built.iter().flat_map(|built| &built.sources) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let list = directory("OUT_DIR")?.join("programs.rs");
    fs::write(&list, programs(&built)).map_err(|error| format!("can't write {}: {error}", list.display()))
}

fn build() -> Result<Vec<Built>, String> {
    let package = directory("CARGO_MANIFEST_DIR")?;
    let program = Program { package: &package, bin: "exec-init", features: Features::Only("program") };
    static_build::build_for_each(program, &ARCHS.map(|(arch, _)| arch))
}

/// The programs as an expression for the library to include.
fn programs(built: &[Built]) -> String {
    let mut list = String::from("&[");
    for Built { path, arch, target, .. } in built {
        let name = ARCHS.iter().find(|(known, _)| known == arch).map_or("", |(_, name)| name);
        let path = path.to_string_lossy();
        let _ = write!(
            list,
            "Program {{ arch: Arch::{name}, target: {target:?}, bytes: include_bytes!({path:?}) }},"
        );
    }
    list + "]"
}

fn directory(variable: &str) -> Result<PathBuf, String> {
    env::var_os(variable).map(PathBuf::from).ok_or_else(|| format!("{variable} is not set"))
}
