//! The second disk: the executables that cargo built, laid out as the tests expect them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::image::make_file_system;
use super::suites::file_name;
use crate::args::Arch;
use crate::cargo::{self, Executable, Kind};
use crate::ordinary_user::copy_sources;

/// The packages whose tests go along.
const PACKAGES: &[&str] = &["exec-wire", "exec-local", "exec-docker", "exec-podman", "agentctl"];

/// The script that runs a suite in the machine.
const RUN_SUITE: &str = include_str!("run_suite.sh");

/// The script that checks limits in one place.
const CHECK_LIMITS: &str = include_str!("check_limits.sh");

/// Builds the workspace's tests and makes the disk in `directory`.
pub(super) fn make(directory: &Path, arch: Arch) -> Result<PathBuf> {
    let built = cargo::built(arch.target().as_deref())?;
    let packages = cargo::metadata()?.packages;
    let place = tempfile::tempdir_in(directory)?;
    let programs = place.path().join("debug");
    fs::create_dir_all(programs.join("deps"))?;
    for Executable { package_id, name, kind, path } in &built {
        let package = packages.iter().find(|package| package.id == *package_id);
        let package = package.map(|package| package.name.as_str()).filter(|name| PACKAGES.contains(name));
        match (kind, package) {
            (Kind::Program, _) => copy(path, &programs.join(name))?,
            (Kind::Test, Some(package)) => copy(path, &programs.join("deps").join(file_name(package, name)))?,
            (Kind::Test, None) | (Kind::UnitTest, _) => {}
        }
    }
    copy_sources(&cargo::root().join("crates"), &place.path().join("crates"))?;
    fs::write(place.path().join("run-suite.sh"), RUN_SUITE)?;
    fs::write(place.path().join("check-limits.sh"), CHECK_LIMITS)?;
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755))?;
    let disk = directory.join("tests.img");
    make_file_system(place.path(), &disk, "2G", "tests")?;
    Ok(disk)
}

/// Without debug information, which is most of the size. The usual `strip` does not know the executables of
/// other processors.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let stripped =
        Command::new("strip").arg("-o").arg(to).arg(from).status().is_ok_and(|status| status.success());
    if !stripped {
        fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    fs::set_permissions(to, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot open {} to others", to.display()))
}
