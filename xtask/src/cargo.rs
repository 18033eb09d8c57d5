//! Calls cargo and reads its answers.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let here =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_path_buf)
}

/// A call of the cargo that runs this program, at the root of the checkout.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Runs a command with our own output; a failure is an error that names the command.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs a command and returns its output; its messages go to our stderr.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let out = command.stderr(Stdio::inherit()).output();
    let out = out.with_context(|| format!("cannot start {}", shown(command)))?;
    if !out.status.success() {
        bail!("{} ended with {}", shown(command), out.status);
    }
    String::from_utf8(out.stdout).with_context(|| format!("{} printed no UTF-8", shown(command)))
}

/// The command as a person would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    let line: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    format!("`{}`", line.join(" "))
}

/// The parts of `cargo metadata` that are used here.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// None for a normal dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
    /// Its path, for a crate that is not from a registry.
    pub(crate) path: Option<PathBuf>,
}

/// The workspace's packages, without resolving their dependencies.
pub(crate) fn metadata() -> Result<Metadata> {
    let json = output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    serde_json::from_str(&json).context("cannot read what `cargo metadata` printed")
}

/// An executable that cargo built.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Executable {
    pub(crate) package_id: String,
    /// The name of the test or program within its package.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
}

/// The purpose of an executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The unit tests of a library or program.
    UnitTest,
    /// An integration test, with or without the standard harness.
    Test,
    /// A program, built for the tests of its package to run.
    Program,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    package_id: Option<String>,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Builds the tests and programs of the whole workspace: a smaller selection would unify features differently
/// and build others. They are for this machine, or for another target, which Rust's own linker links.
pub(crate) fn built(target: Option<&str>) -> Result<Vec<Executable>> {
    let build = ["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"];
    let mut build = cargo(&build);
    if let Some(target) = target {
        run(Command::new("rustup").args(["target", "add", target]))?;
        let linker = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
        build.args(["--target", target]).env(linker, "rust-lld");
    }
    executables(&output(&mut build)?)
}

/// Finds tests and programs among cargo's JSON messages.
fn executables(messages: &str) -> Result<Vec<Executable>> {
    let mut found = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Message = serde_json::from_str(line).context("cannot read a message of cargo's")?;
        found.extend(executable(message));
    }
    Ok(found)
}

fn executable(message: Message) -> Option<Executable> {
    if message.reason != "compiler-artifact" {
        return None;
    }
    let (target, profile) = (message.target?, message.profile?);
    let is = |kind: &str| target.kind.iter().any(|k| k == kind);
    let kind = match profile.test {
        true if is("test") => Kind::Test,
        true => Kind::UnitTest,
        false if is("bin") => Kind::Program,
        _ => return None,
    };
    Some(Executable { package_id: message.package_id?, name: target.name, kind, path: message.executable? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_programs_are_distinguished_from_the_rest() {
        let messages = r#"
{"reason":"compiler-artifact","package_id":"a","target":{"name":"a","kind":["lib"]},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","package_id":"a","target":{"name":"a","kind":["lib"]},"profile":{"test":true},"executable":"/t/deps/a-1"}
{"reason":"compiler-artifact","package_id":"a","target":{"name":"stop","kind":["test"]},"profile":{"test":true},"executable":"/t/deps/stop-2"}
{"reason":"compiler-artifact","package_id":"b","target":{"name":"b","kind":["bin"]},"profile":{"test":false},"executable":"/t/b"}
{"reason":"compiler-artifact","package_id":"b","target":{"name":"b","kind":["bin"]},"profile":{"test":true},"executable":"/t/deps/b-3"}
{"reason":"build-script-executed","package_id":"b"}
{"reason":"build-finished","success":true}
"#;
        let expected = [
            ("a", "a", Kind::UnitTest, "/t/deps/a-1"),
            ("a", "stop", Kind::Test, "/t/deps/stop-2"),
            ("b", "b", Kind::Program, "/t/b"),
            ("b", "b", Kind::UnitTest, "/t/deps/b-3"),
        ];
        let expected = expected.map(|(package_id, name, kind, path)| Executable {
            package_id: package_id.into(),
            name: name.into(),
            kind,
            path: path.into(),
        });
        assert_eq!(executables(messages).unwrap(), expected);
    }

    #[test]
    fn a_failing_command_is_named() {
        let error =
            run(cargo(&["no-such-verb-of-cargo", "-q"]).stderr(Stdio::null())).unwrap_err().to_string();
        assert!(error.starts_with("`cargo no-such-verb-of-cargo -q` ended with"), "{error}");
    }
}
