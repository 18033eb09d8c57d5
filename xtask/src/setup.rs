//! Installs what the tests need on a Debian or Ubuntu machine, and reports what could not be installed.
//!
//! Nothing here fails the run: a test that lacks something reports it, and `EXEC_TEST_REQUIRE` decides
//! whether that is a failure.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::host::{self, Privilege};
use crate::{cargo, engines, test_tools};

/// The user that tests run as when they must pass without privileges.
pub(crate) const TEST_USER: &str = "exectest";

/// A program and its package.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// Its name, or its path if it is on no search path.
    pub(crate) program: &'static str,
    pub(crate) package: &'static str,
    /// The tests that do not run without it.
    pub(crate) without: &'static str,
}

/// The programs that the tests run. All of them are ordinary and stay installed.
const TOOLS: &[Tool] = &[
    Tool {
        program: "docker-compose",
        package: "docker-compose",
        without: "the files of bootstrap-docker --compose",
    },
    Tool { program: "npm", package: "npm", without: "generated images for Node and Python" },
    Tool { program: "gcc", package: "gcc", without: "nothing can be linked: cargo needs a C compiler" },
    Tool { program: "busybox", package: "busybox-static", without: "the small image that tests run in" },
    Tool { program: "git", package: "git", without: "the cases about git's hooks and configuration" },
    Tool { program: "python3", package: "python3", without: "the probes that are written in Python" },
    Tool {
        program: "setsid",
        package: "util-linux",
        without: "the cases about daemons that leave their session",
    },
    Tool { program: "strace", package: "strace", without: "the faults that are injected into system calls" },
    Tool { program: "tmux", package: "tmux", without: "the cases that need a real terminal" },
];

/// Kernel settings that forbid namespaces to ordinary users: file, forbidding value, remedy.
const NAMESPACE_SWITCHES: &[(&str, &str, &str)] = &[
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

/// Sets up what is missing and prints what remains missing.
pub(crate) fn run() {
    if !cfg!(target_os = "linux") {
        println!("nothing is set up on this system; only Debian and Ubuntu are known");
        return;
    }
    let privilege = Privilege::detect();
    install(TOOLS, privilege);
    note(test_tools::install(), "generated Dockerfiles are not linted, and no image for Go is built");
    note(
        add_static_target(std::env::consts::ARCH).map(drop),
        "exec-init is built with the C library's static form instead: larger, same behaviour",
    );
    if privilege == Privilege::Root {
        note(create_test_user(privilege), "the tests are not repeated as an ordinary user");
    }
    engines::prepare(privilege);
    for (file, forbidding, remedy) in NAMESPACE_SWITCHES {
        if fs::read_to_string(file).is_ok_and(|value| value.trim() == *forbidding) {
            println!("not set up: namespaces for ordinary users are off on this machine ({file}).");
            println!("  what that means: their cells run in subreaper mode; to allow namespaces: {remedy}");
        }
    }
}

/// Installs the missing ones among `tools`.
pub(crate) fn install(tools: &[Tool], privilege: Privilege) {
    let missing = missing(tools);
    if missing.is_empty() {
        println!("all programs are installed: {}", names(tools));
        return;
    }
    println!("missing: {}", names(&missing));
    let tried = apt_install(&missing, privilege);
    for tool in self::missing(&missing) {
        let why = tried
            .as_ref()
            .err()
            .map_or_else(|| "the package does not contain it".into(), |e| format!("{e:#}"));
        println!("not set up: {} ({why}). Package: {}.", tool.program, tool.package);
        println!("  what that means: without it, {}", tool.without);
    }
}

fn missing(tools: &[Tool]) -> Vec<Tool> {
    tools.iter().filter(|tool| host::system_program(tool.program).is_none()).copied().collect()
}

fn names(tools: &[Tool]) -> String {
    tools.iter().map(|tool| tool.program).collect::<Vec<_>>().join(", ")
}

/// Packages without duplicates, in the order of the tools.
fn packages(tools: &[Tool]) -> Vec<&'static str> {
    let mut packages = Vec::new();
    for tool in tools {
        if !packages.contains(&tool.package) {
            packages.push(tool.package);
        }
    }
    packages
}

fn apt_install(tools: &[Tool], privilege: Privilege) -> Result<()> {
    host::system_program("apt-get").context("apt-get is not installed")?;
    let apt_get = |args: &[&str]| -> Result<()> {
        // Through `env`, because sudo clears the environment.
        let mut command = privilege.command("env").context("neither root nor sudo without a password")?;
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]).args(args).stdin(Stdio::null());
        cargo::run(&mut command)
    };
    let install = |packages: &[&str]| {
        apt_get(&[&["install", "-y", "-q", "--no-install-recommends"], packages].concat())
    };
    let packages = packages(tools);
    // A fresh machine has no package lists, a used one has old ones; an unneeded update costs time.
    let all = install(&packages).or_else(|_| apt_get(&["update", "-q"]).and_then(|()| install(&packages)));
    if all.is_err() && packages.len() > 1 {
        // If this system lacks one of the packages, apt installs none of the others.
        for package in &packages {
            install(&[package]).ok();
        }
    }
    all
}

/// Prints why a step failed, and what follows from that.
pub(crate) fn note(result: Result<()>, meaning: &str) {
    if let Err(error) = result {
        println!("not set up: {error:#}.\n  what that means: {meaning}");
    }
}

/// Allows linking against musl: for exec-init, and for `agentctl` as it is installed.
pub(crate) fn add_static_target(arch: &str) -> Result<String> {
    let target = format!("{arch}-unknown-linux-musl");
    let list = Command::new("rustup").args(["target", "list", "--installed"]).stderr(Stdio::null()).output();
    let list = list.with_context(|| format!("the target {target}: rustup is not installed"))?;
    if String::from_utf8_lossy(&list.stdout).lines().any(|line| line.trim() == target) {
        println!("the target {target} is there");
        return Ok(target);
    }
    let added = cargo::run(Command::new("rustup").args(["target", "add", &target]));
    added.with_context(|| format!("the target {target}"))?;
    Ok(target)
}

pub(crate) fn create_test_user(privilege: Privilege) -> Result<()> {
    let passwd = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
    if passwd.lines().any(|line| line.split(':').next() == Some(TEST_USER)) {
        println!("the user {TEST_USER} is there");
        return Ok(());
    }
    let mut useradd = privilege.command("useradd").context("not root")?;
    let created = cargo::run(useradd.args(["--create-home", "--shell", "/bin/sh", TEST_USER]));
    created.with_context(|| format!("the user {TEST_USER}"))?;
    println!("created the user {TEST_USER}; `userdel --remove {TEST_USER}` removes it");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_requested_once() {
        let tool = |program, package| Tool { program, package, without: "" };
        let tools = [tool("setsid", "util-linux"), tool("git", "git"), tool("prlimit", "util-linux")];
        assert_eq!(packages(&tools), ["util-linux", "git"]);
    }

    #[test]
    fn a_program_without_a_package_is_missing() {
        let tool = Tool { program: "no-such-program-anywhere", package: "none", without: "" };
        assert_eq!(names(&missing(&[tool])), tool.program);
    }
}
