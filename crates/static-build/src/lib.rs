//! For build scripts: builds a program of this workspace as a static executable, to be embedded.
//!
//! The program goes where no library of its own can be found, so it links everything in: against musl where
//! that target is installed, else against the system's C library in its static form. Nothing needs to be set
//! up. It knows neither the program nor what embeds it.
#![expect(clippy::print_stdout, reason = "a build script talks to cargo by printing")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Settings (flags, paths, clippy's wrapper) meant for the crate that embeds the program.
const NOT_INHERITED: &[&str] = &[
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_INCREMENTAL",
    "CARGO_TARGET_DIR",
    "CLIPPY_ARGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
];

/// Variables that describe the build script's own package. If inherited, they would make the program's build
/// look changed each time.
const ABOUT_THE_EMBEDDER: &[&str] =
    &["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_PROFILE_", "DEP_"];

/// The programs' profile: small and quick to start. Set here rather than in the workspace's manifest, so that
/// it does not depend on the workspace.
const PROFILE: &[&str] =
    &["profile.release.panic='abort'", "profile.release.strip='symbols'", "profile.release.debug=false"];

/// In a release, saving the last quarter of the size is worth the build time.
const FOR_RELEASE: &[&str] =
    &["profile.release.opt-level='s'", "profile.release.lto='fat'", "profile.release.codegen-units=1"];

/// During development, a third less build time is worth more.
const FOR_DEVELOPMENT: &[&str] =
    &["profile.release.opt-level=1", "profile.release.lto='off'", "profile.release.codegen-units=16"];

/// A program to build.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// Directory of its package.
    pub package: &'a Path,
    /// Name of the executable.
    pub bin: &'a str,
    /// Its features.
    pub features: Features<'a>,
}

/// The features a program is built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Features<'a> {
    /// The package's default ones.
    Default,
    /// Only this one.
    Only(&'a str),
}

/// A built program.
#[derive(Debug, Clone)]
pub struct Built {
    /// The executable.
    pub path: PathBuf,
    /// The architecture it was built for, such as `x86_64`.
    pub arch: String,
    /// The target it was built for, such as `x86_64-unknown-linux-musl`.
    pub target: String,
    /// The files of this workspace it was built from; the build script makes cargo watch them.
    pub sources: Vec<PathBuf>,
}

/// Builds the program for the architecture that the build script's crate is built for.
///
/// # Errors
///
/// Fails if no suitable target is installed, or if the build fails.
pub fn build(program: Program<'_>) -> Result<Built, String> {
    let arch = variable("CARGO_CFG_TARGET_ARCH")?;
    let target = Toolchain::find()?.target(&arch).ok_or_else(|| {
        format!("{} can't be built here: run `rustup target add {}`", program.bin, musl(&arch))
    })?;
    build_for(program, target)
}

/// Builds the program for those of these architectures that this machine can build for. In development
/// builds, only for the one that the build script's crate is built for: each further one would cost as much
/// time again, at every change.
///
/// # Errors
///
/// Fails if a build for Linux can't have the program for its own architecture.
pub fn build_for_each(program: Program<'_>, archs: &[&str]) -> Result<Vec<Built>, String> {
    let toolchain = Toolchain::find()?;
    toolchain.watch();
    let own = variable("CARGO_CFG_TARGET_ARCH")?;
    let is_needed = |arch: &str| arch == own && env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    let mut built = Vec::new();
    for arch in archs.iter().copied().filter(|arch| *arch == own || is_release()) {
        match toolchain.target(arch) {
            Some(target) => built.push(build_for(program, target)?),
            None if is_needed(arch) => built.push(build(program)?),
            None => {}
        }
    }
    Ok(built)
}

fn build_for(program: Program<'_>, target: Target) -> Result<Built, String> {
    let dir = PathBuf::from(variable("OUT_DIR")?).join("static");
    let mut cargo = Command::new(variable("CARGO")?);
    cargo
        .args(["build", "--release", "--quiet", "--target", &target.triple, "--bin", program.bin])
        .arg("--manifest-path")
        .arg(program.package.join("Cargo.toml"))
        // A separate directory, because cargo holds a lock on the one it builds in.
        .arg("--target-dir")
        .arg(&dir)
        .stdin(Stdio::null());
    for setting in PROFILE.iter().chain(if is_release() { FOR_RELEASE } else { FOR_DEVELOPMENT }) {
        cargo.args(["--config", setting]);
    }
    if let Features::Only(feature) = program.features {
        cargo.args(["--no-default-features", "--features", feature]);
    }
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if NOT_INHERITED.contains(&&*text) || ABOUT_THE_EMBEDDER.iter().any(|prefix| text.starts_with(prefix))
        {
            cargo.env_remove(&name);
        }
    }
    // Takes precedence over flags from any configuration file.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", target.flags);
    let output = cargo.output().map_err(|error| format!("can't start cargo: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("can't build {} for {}:\n{said}", program.bin, target.triple));
    }
    let path = dir.join(&target.triple).join("release").join(program.bin);
    let mut sources = sources(&path.with_extension("d"))?;
    sources.push(program.package.join("Cargo.toml"));
    Ok(Built { path, arch: target.arch, target: target.triple, sources })
}

/// The exit code of a build script; prints the reason of a failure line by line.
pub fn exit_code(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            for line in why.lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

struct Target {
    arch: String,
    triple: String,
    flags: &'static str,
}

/// The current compiler.
struct Toolchain {
    /// The directory of the standard libraries of its targets.
    libraries: PathBuf,
    /// The target it runs on.
    host: String,
}

impl Toolchain {
    fn find() -> Result<Self, String> {
        let output = Command::new(variable("RUSTC")?)
            .args(["--print", "sysroot"])
            .output()
            .map_err(|error| format!("can't start rustc: {error}"))?;
        let sysroot = String::from_utf8_lossy(&output.stdout);
        let libraries = Path::new(sysroot.trim()).join("lib/rustlib");
        Ok(Self { libraries, host: variable("HOST")? })
    }

    /// The target for static programs of this architecture, if this compiler can build them.
    fn target(&self, arch: &str) -> Option<Target> {
        let (arch, triple) = (arch.to_owned(), musl(arch));
        let is_native = self.host.starts_with(&format!("{arch}-")) && self.host.contains("-linux-");
        // Rust ships musl, its start files and usually a linker: then nothing else has to be installed.
        let linker =
            self.libraries.join(&self.host).join("bin/rust-lld").with_extension(env::consts::EXE_EXTENSION);
        if self.has(&triple) && linker.exists() {
            return Some(Target { arch, triple, flags: "-Clinker=rust-lld\x1f-Clinker-flavor=ld.lld" });
        }
        // Any other linker links only for its own machine.
        if self.has(&triple) && is_native {
            return Some(Target { arch, triple, flags: "" });
        }
        let triple = format!("{arch}-unknown-linux-gnu");
        is_native.then_some(Target { arch, triple, flags: "-Ctarget-feature=+crt-static" })
    }

    fn has(&self, triple: &str) -> bool {
        self.libraries.join(triple).join("lib").exists()
    }

    /// Makes cargo rerun the build script when targets are added, if rustup keeps a list of them.
    fn watch(&self) {
        let list = self.libraries.join("components");
        if list.exists() {
            println!("cargo::rerun-if-changed={}", list.display());
        }
    }
}

fn musl(arch: &str) -> String {
    format!("{arch}-unknown-linux-musl")
}

/// Whether the build script's crate is built optimised.
fn is_release() -> bool {
    env::var("PROFILE").is_ok_and(|profile| profile == "release")
}

/// The files of this workspace that a program was built from, from the list that cargo leaves next to it.
fn sources(list: &Path) -> Result<Vec<PathBuf>, String> {
    let text = fs::read_to_string(list).map_err(|error| format!("can't read {}: {error}", list.display()))?;
    let Some((_, files)) = text.split_once(": ") else { return Ok(Vec::new()) };
    Ok(split_escaped(files.trim_end()).into_iter().map(PathBuf::from).collect())
}

/// Splits at spaces, except those preceded by a backslash.
fn split_escaped(text: &str) -> Vec<String> {
    let held = text.replace("\\ ", "\0");
    held.split(' ').filter(|word| !word.is_empty()).map(|word| word.replace('\0', " ")).collect()
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|_| format!("{name} is not set; this runs in a build script"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_may_have_spaces() {
        assert_eq!(split_escaped(r"/a/b.rs /my\ code/c.rs"), ["/a/b.rs", "/my code/c.rs"]);
        assert!(split_escaped("").is_empty());
    }
}
