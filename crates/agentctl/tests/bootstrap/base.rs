//! Substitutes for the official images: this machine's own packages and toolchains, imported once for all
//! tests and removed by the last. If the engine already has an image of the official name, the tests use it
//! and leave it in place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use exec_testkit::Skip;

use crate::tools::{docker, test_tools};

/// The name it is imported under.
const NAME: &str = "agentctl-test/stand-in";

/// The official images it replaces.
const OFFICIAL: [&str; 5] = [
    "golang:1.22-bookworm",
    "node:20-bookworm",
    "python:3.11-bookworm",
    "rust:1.85-bookworm",
    "debian:bookworm-slim",
];

const SETTINGS: &str = "ENV PATH=/usr/local/cargo/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo GOTOOLCHAIN=local";

/// Writes an archive of installed packages with all their dependencies, and of toolchains. The packages list
/// their own files.
const ARCHIVE: &str = r#"
set -eu
packages="bash coreutils findutils grep sed tar gzip passwd util-linux ca-certificates gcc libc6-dev python3 python3-venv nodejs dash"
if dpkg -s npm >/dev/null 2>&1; then packages="$packages npm"; fi
closure=$(apt-cache depends --installed --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances $packages |
    grep '^[a-z0-9]' | sort -u)
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${binary:Package}\n' $closure 2>/dev/null | awk '$1 == "ii" { print $2 }')
{
    dpkg -L $installed
    find /etc/ssl/certs /etc/alternatives
    ls -d /etc/passwd /etc/group /etc/login.defs /etc/nsswitch.conf /etc/pip.conf /usr/bin/cc /usr/bin/awk 2>/dev/null || true
} | grep -v -E '^/usr/share/(doc|man|locale|info|lintian)/' | grep -v -x -E '/(bin|sbin|lib|lib64|usr|tmp|\.)' |
    sed -E 's,^/(bin|sbin|lib|lib64)/,/usr/\1/,' | sort -u > "$1.files"
tar -C / --no-recursion -cf "$1" usr bin sbin lib lib64
tar -C / --no-recursion --ignore-failed-read -rf "$1" -T "$1.files" 2>/dev/null || true

go="$2"
tar -C "$go" --transform 'flags=r;s,^\.,usr/local/go,' --exclude=./test --exclude=./api --exclude=./doc -rf "$1" .

sysroot=$(rustc --print sysroot)
toolchain=$(basename "$sysroot")
tar -C "$sysroot" --transform "flags=r;s,^\.,usr/local/rustup/toolchains/$toolchain," --exclude=./share \
    --exclude='./lib/rustlib/*-musl' --exclude='./lib/rustlib/wasm*' --exclude=./lib/rustlib/src -rf "$1" .
rustup=$(command -v rustup)
tar -C "$(dirname "$rustup")" --transform 'flags=r;s,^\.,usr/local/cargo/bin,' -rf "$1" ./rustup ./cargo ./rustc ./rustdoc ./rustfmt ./cargo-clippy
mkdir "$1.settings" "$1.settings/tmp"
chmod 1777 "$1.settings/tmp"
printf 'version = "12"\nprofile = "minimal"\ndefault_toolchain = "%s"\n' "$toolchain" > "$1.settings/settings.toml"
tar -C "$1.settings" --transform 'flags=r;s,^\./settings,usr/local/rustup/settings,' -rf "$1" ./settings.toml ./tmp
"#;

/// The images, once they are on the engine.
pub(crate) fn stand_in() -> Result<()> {
    static MADE: OnceLock<Result<(), String>> = OnceLock::new();
    let go = go()?;
    MADE.get_or_init(|| make(&go).map_err(|error| format!("{error:#}"))).clone().map_err(anyhow::Error::msg)
}

/// The Go that `cargo xtask test` installs: a whole tree inside a Python package.
fn go() -> Result<PathBuf> {
    let libraries = fs::read_dir(test_tools().join("lib")).into_iter().flatten().flatten();
    let found = libraries
        .map(|python| python.path().join("site-packages/go"))
        .find(|path| path.join("bin/go").is_file());
    found.ok_or_else(|| Skip("target/test-tools has no Go: run `cargo xtask test`".to_owned()).into())
}

fn make(go: &Path) -> Result<()> {
    let docker = docker().map_err(anyhow::Error::msg)?;
    let directory = tempfile::tempdir()?;
    let archive = directory.path().join("root.tar");
    let status = Command::new("sh").args(["-c", ARCHIVE, "sh"]).arg(&archive).arg(go).status()?;
    ensure!(status.success(), "can't archive this machine's packages");
    let imported =
        Command::new(&docker).args(["import", "--change", SETTINGS]).arg(&archive).arg(NAME).output()?;
    ensure!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    for name in OFFICIAL {
        let mut inspect = Command::new(&docker);
        inspect.args(["image", "inspect", name]).stdout(Stdio::null()).stderr(Stdio::null());
        if !inspect.status()?.success() {
            Command::new(&docker).args(["tag", NAME, name]).status().context("docker tag")?;
        }
    }
    Ok(())
}

/// Removes our own names; an official image of that name has another id.
pub(crate) fn remove() {
    let Ok(docker) = docker() else { return };
    let id = |name: &str| {
        let output = Command::new(&docker).args(["image", "inspect", "-f", "{{.Id}}", name]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(ours) = id(NAME) else { return };
    for name in OFFICIAL.into_iter().filter(|name| id(name).as_ref() == Some(&ours)).chain([NAME]) {
        // The engine's own list shows what is left.
        let _ =
            Command::new(&docker).args(["rmi", name]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}
