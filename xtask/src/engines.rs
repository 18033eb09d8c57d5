//! `cargo xtask engines`: installs what the tests of container engines need on a Debian or Ubuntu machine.
//! `cargo xtask test` does the same.
//!
//! Podman is installed, for root and for the ordinary test user. Docker is only detected: a second daemon
//! would be an unwelcome surprise. Existing installations stay unchanged.

use std::process::{Command, Stdio};

use crate::host::{self, Privilege};
use crate::mcp_client;
use crate::setup::{self, Tool};

/// The packages that Podman needs, for root and for others.
const TOOLS: &[Tool] = &[
    Tool { program: "podman", package: "podman", without: "everything about Podman" },
    Tool { program: "runc", package: "runc", without: "Podman on hosts where crun makes no containers" },
    Tool { program: "newuidmap", package: "uidmap", without: "Podman without root" },
    Tool { program: "slirp4netns", package: "slirp4netns", without: "networks of Podman without root" },
    Tool {
        program: "fuse-overlayfs",
        package: "fuse-overlayfs",
        without: "fast images of Podman without root",
    },
    Tool { program: "/usr/lib/podman/netavark", package: "netavark", without: "bridge networks of Podman" },
];

/// The verb: sets up the test user too, and reports which engines answer.
pub(crate) fn run() {
    if !cfg!(target_os = "linux") {
        println!("nothing is set up on this system; only Debian and Ubuntu are known");
        return;
    }
    let privilege = Privilege::detect();
    if privilege == Privilege::Root {
        setup::note(setup::create_test_user(privilege), "Podman is not tested without root");
    }
    prepare(privilege);
}

/// Installs what is missing and reports what is available.
pub(crate) fn prepare(privilege: Privilege) {
    setup::install(TOOLS, privilege);
    #[cfg(unix)]
    if privilege == Privilege::Root {
        setup::note(test_user::prepare(), "Podman is not tested without root");
    }
    for (engine, meaning) in
        [("docker", "its tests show as ignored"), ("podman", "its tests show as ignored")]
    {
        match version(engine) {
            Some(version) => println!("{engine} {version} works"),
            None => {
                println!("not set up: {engine} does not work for this user.\n  what that means: {meaning}");
            }
        }
    }
    mcp_client::prepare(privilege);
}

/// The version of a working engine.
pub(crate) fn version(engine: &str) -> Option<String> {
    host::system_program(engine)?;
    // Asks the engine, not only its program.
    let format = if engine == "docker" { "{{.ServerVersion}}" } else { "{{.Version.Version}}" };
    let output =
        Command::new(engine).args(["info", "--format", format]).stderr(Stdio::null()).output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !version.is_empty()).then_some(version)
}

#[cfg(unix)]
mod test_user {
    //! What Podman needs for an ordinary user: ids for its containers, and a runtime directory.

    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::process::Command;

    use anyhow::{Context, Result};

    use crate::cargo;
    use crate::ordinary_user::TestUser;
    use crate::setup::TEST_USER;

    /// The number of ids for a user, the same as with `useradd`.
    const IDS: u64 = 65_536;
    const FIRST: u64 = 100_000;

    pub(super) fn prepare() -> Result<()> {
        let passwd = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
        let user = TestUser::find(&passwd, TEST_USER)
            .with_context(|| format!("the user {TEST_USER} does not exist"))?;
        for (file, option) in [("/etc/subuid", "--add-subuids"), ("/etc/subgid", "--add-subgids")] {
            let ranges = fs::read_to_string(file).unwrap_or_default();
            if has_range(&ranges, TEST_USER) {
                println!("{TEST_USER} has a range in {file}");
                continue;
            }
            let first = first_free(&ranges);
            let range = format!("{first}-{}", first + IDS - 1);
            cargo::run(Command::new("usermod").args([option, &range, TEST_USER]))?;
            println!("gave {TEST_USER} the range {range} in {file}");
        }
        let runtime = user.runtime_directory();
        if runtime.is_dir() {
            println!("{} is there", runtime.display());
            return Ok(());
        }
        fs::create_dir_all(&runtime).with_context(|| format!("cannot make {}", runtime.display()))?;
        chown(&runtime, Some(user.uid), Some(user.gid))?;
        fs::set_permissions(&runtime, Permissions::from_mode(0o700))?;
        println!("made {}", runtime.display());
        Ok(())
    }

    fn has_range(ranges: &str, user: &str) -> bool {
        ranges.lines().any(|line| line.split(':').next() == Some(user))
    }

    /// After the ranges of all other users.
    fn first_free(ranges: &str) -> u64 {
        let ends = ranges.lines().filter_map(|line| {
            let mut numbers = line.split(':').skip(1).map(str::parse::<u64>);
            Some(numbers.next()?.ok()? + numbers.next()?.ok()?)
        });
        ends.max().unwrap_or(FIRST).max(FIRST)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_range_belongs_to_one_user() {
            assert_eq!(first_free(""), 100_000);
            assert_eq!(first_free("ada:100000:65536\nbob:165536:65536\nnonsense\n"), 231_072);
            assert!(has_range("exectest:100000:65536\n", "exectest"));
            assert!(!has_range("exectest2:100000:65536\n", "exectest"));
        }
    }
}
