//! Runs, as an ordinary user, the tests that must pass without privileges.
//!
//! The executables are the ones that root runs. They are copied to a place that the user can read, laid out
//! as cargo does (`programs`, `deps/tests`), because a checkout below root's home directory is closed to
//! other users.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::cargo::{self, Executable, Kind, Package};
use crate::host;
use crate::scratch::Scratch;
use crate::setup::TEST_USER;
use crate::suites::Suite;

/// The packages whose integration tests are repeated.
const PACKAGES: &[&str] = &["exec-local", "exec-podman", "agentctl"];

/// Variables that reach the tests; the rest of root's environment stays with root.
const PASSED_ON: &[&str] = &["LANG", "LC_ALL", "RUST_BACKTRACE", "RUST_LOG", "RUST_TEST_THREADS", "TERM"];

/// Names the backends that may not be missing.
const REQUIRE: &str = "EXEC_TEST_REQUIRE";

/// Requirements that only root meets: an engine, and a client installed below the checkout.
const ROOTS_ENGINES: &[&str] = &["docker", "mcp"];

/// Variables with this prefix reach the tests too.
const PASSED_ON_PREFIX: &str = "EXEC_TEST_";

/// The user's directories, which last as long as this value.
#[derive(Debug, Default)]
pub(crate) struct OrdinaryUser(Option<Place>);

impl OrdinaryUser {
    /// Adds the tests that root repeats as the ordinary user; otherwise reports that they are left out.
    pub(crate) fn repeat(
        &mut self,
        built: &[Executable],
        packages: &[Package],
        scratch: &Scratch,
        suites: &mut Vec<Suite>,
    ) -> Result<Option<String>> {
        if !host::is_root() {
            return Ok(Some("ran as an ordinary user only; the root part was not run".to_owned()));
        }
        let passwd = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
        let Some(user) = TestUser::find(&passwd, TEST_USER) else {
            let why = format!("the user {TEST_USER} does not exist");
            if let Some(required) = host::required_backends() {
                bail!("{why}, and EXEC_TEST_REQUIRE={required} allows no gaps");
            }
            return Ok(Some(why));
        };
        // Not TMPDIR: root's own may be closed to others.
        let below = scratch.directory_for(&user).unwrap_or(Path::new("/tmp"));
        let place = self.0.insert(Place::create(&user, below)?);
        for test in place.fill(built, packages)? {
            let name = format!("{} as {}", test.name, user.name);
            suites.push(Suite { name, command: place.command(&test, &user)? });
        }
        Ok(None)
    }
}

/// The user that tests run as when they must pass without privileges.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestUser {
    name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    home: PathBuf,
}

impl TestUser {
    /// Where the user's running programs keep their files. Podman remembers it from one run to the next.
    pub(crate) fn runtime_directory(&self) -> PathBuf {
        format!("/run/user/{}", self.uid).into()
    }

    /// A program that the user runs, with the user's own environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name)))
            .env("PATH", host::SYSTEM_PATH)
            .env("HOME", &self.home)
            .env("USER", &self.name)
            .env("LOGNAME", &self.name)
            .env("XDG_RUNTIME_DIR", self.runtime_directory())
            .current_dir("/")
            // Changing the user id drops root's supplementary groups.
            .gid(self.gid)
            .uid(self.uid);
        command
    }

    pub(crate) fn find(passwd: &str, name: &str) -> Option<Self> {
        passwd.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let [found, _, uid, gid, _, home, _] = fields[..] else { return None };
            let (uid, gid) = (uid.parse().ok()?, gid.parse().ok()?);
            (found == name).then(|| Self { name: name.to_owned(), uid, gid, home: home.into() })
        })
    }
}

#[derive(Debug)]
struct Test {
    /// Package and test, as in `agentctl run`.
    name: String,
    path: PathBuf,
    /// Its own directory, made when it runs.
    scratch: PathBuf,
}

/// Directories that the user can reach: executables to read, and one to write.
#[derive(Debug)]
struct Place {
    root: TempDir,
}

impl Place {
    fn create(user: &TestUser, below: &Path) -> Result<Self> {
        let root = tempfile::Builder::new().prefix("exec-user.").tempdir_in(below);
        let root = root.with_context(|| format!("cannot make a directory in {}", below.display()))?;
        let place = Self { root };
        open(place.root.path())?;
        for dir in [place.programs(), place.programs().join("deps"), place.scratch()] {
            make_dir(&dir)?;
        }
        give(&place.scratch(), user)?;
        copy_sources(&cargo::root().join("crates"), &place.source())?;
        Ok(place)
    }

    /// The source code, for tests that read it.
    fn source(&self) -> PathBuf {
        self.root.path().join("crates")
    }

    fn programs(&self) -> PathBuf {
        self.root.path().join("debug")
    }

    fn scratch(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    /// Copies all programs and the tests that are repeated here, and returns the tests.
    fn fill(&self, executables: &[Executable], packages: &[Package]) -> Result<Vec<Test>> {
        let mut tests = Vec::new();
        for Executable { package_id, name, kind, path } in executables {
            let file = path.file_name().with_context(|| format!("no file: {}", path.display()))?;
            let package = packages
                .iter()
                .find(|package| package.id == *package_id && PACKAGES.contains(&package.name.as_str()));
            let to = match (kind, package) {
                (Kind::Program, _) => self.programs().join(file),
                (Kind::Test, Some(_)) => self.programs().join("deps").join(file),
                // Unit tests don't depend on the user.
                (Kind::Test, None) | (Kind::UnitTest, _) => continue,
            };
            fs::copy(path, &to).with_context(|| format!("cannot copy {}", path.display()))?;
            open(&to)?;
            if let (Kind::Test, Some(package)) = (kind, package) {
                // A short name: a socket's path has about a hundred bytes, and begins with this.
                let scratch = self.scratch().join(tests.len().to_string());
                tests.push(Test { name: format!("{} {name}", package.name), path: to, scratch });
            }
        }
        Ok(tests)
    }

    /// The command that runs `test` as `user`, in its own fresh directory.
    fn command(&self, test: &Test, user: &TestUser) -> Result<Command> {
        make_dir(&test.scratch)?;
        give(&test.scratch, user)?;
        let mut command = user.command(&test.path);
        command
            .env("TMPDIR", &test.scratch)
            .env("XDG_STATE_HOME", test.scratch.join("state"))
            .envs(std::env::var(REQUIRE).map(|list| (REQUIRE, without_roots_engines(&list))))
            .env("AGENTCTL_BIN", self.programs().join("agentctl"))
            .env("EXEC_TEST_AS", "ordinary-user")
            .env("EXEC_TEST_SOURCE", self.source())
            .current_dir(&test.scratch);
        Ok(command)
    }
}

/// Copies all Rust files below a directory.
pub(crate) fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    make_dir(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_sources(&path, &copy)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            fs::copy(&path, &copy).with_context(|| format!("cannot copy {}", path.display()))?;
            open(&copy)?;
        }
    }
    Ok(())
}

fn make_dir(dir: &Path) -> Result<()> {
    fs::create_dir(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    open(dir)
}

fn give(path: &Path, user: &TestUser) -> Result<()> {
    chown(path, Some(user.uid), Some(user.gid))
        .with_context(|| format!("cannot give {} to {}", path.display(), user.name))
}

/// Lets every user read and enter it, whatever the umask is.
fn open(path: &Path) -> Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o755))
        .with_context(|| format!("cannot open {} to others", path.display()))
}

/// An ordinary user need not reach root's engines, nor make the claims that only root can.
fn without_roots_engines(list: &str) -> String {
    let kept = list.split(',').filter(|name| !name.contains(':') && !ROOTS_ENGINES.contains(&name.trim()));
    kept.collect::<Vec<_>>().join(",")
}

fn is_passed_on(name: &OsString) -> bool {
    name.to_str().is_some_and(|name| PASSED_ON.contains(&name) || name.starts_with(PASSED_ON_PREFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_engines_are_required_of_root_only() {
        assert_eq!(without_roots_engines("local, docker,podman"), "local,podman");
        assert_eq!(without_roots_engines("docker"), "");
        assert_eq!(without_roots_engines("local,local:memory_limit"), "local");
    }

    const PASSWD: &str =
        "root:x:0:0:root:/root:/bin/bash\nbroken\nexectest:x:1001:1002::/home/user:/bin/sh\n";

    #[test]
    fn the_user_comes_from_passwd() {
        let user = TestUser { name: "exectest".into(), uid: 1001, gid: 1002, home: "/home/user".into() };
        assert_eq!(TestUser::find(PASSWD, "exectest"), Some(user));
        assert_eq!(TestUser::find(PASSWD, "exec"), None);
    }

    #[test]
    fn roots_environment_stays_with_root() {
        for (name, passes) in [("EXEC_TEST_REQUIRE", true), ("TERM", true), ("CARGO_HOME", false)] {
            assert_eq!(is_passed_on(&OsString::from(name)), passes, "{name}");
        }
    }

    #[test]
    fn tests_keep_their_place_next_to_the_programs() {
        let from = tempfile::tempdir().unwrap();
        let executable = |package_id: &str, file: &str, kind| {
            let path = from.path().join(file);
            fs::write(&path, file).unwrap();
            Executable { package_id: package_id.into(), name: "stop".into(), kind, path }
        };
        let built = [
            executable("other", "helper", Kind::Program),
            executable("other", "stop-0f0f", Kind::Test),
            executable("id", "agentctl", Kind::Program),
            executable("id", "stop-1a2b", Kind::Test),
        ];
        let package = Package {
            name: "agentctl".into(),
            id: "id".into(),
            manifest_path: "/agentctl/Cargo.toml".into(),
            dependencies: Vec::new(),
        };
        let me = TestUser {
            name: "me".into(),
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            home: "/".into(),
        };
        let place = Place::create(&me, Path::new("/tmp")).unwrap();
        let tests = place.fill(&built, &[package]).unwrap();
        assert_eq!(tests.len(), 1);
        assert_eq!(tests[0].name, "agentctl stop");
        assert_eq!(tests[0].path, place.programs().join("deps/stop-1a2b"));
        assert!(place.programs().join("agentctl").is_file());
        assert!(place.programs().join("helper").is_file());
    }
}
