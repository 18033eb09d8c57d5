//! Toolchains that live in home directories: found by their variables, their usual places and `PATH`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::SystemEntry;

/// A version manager or language: the variable that names its root, the root's usual place below the home, and the
/// parts of the root that tools need. Credentials lie next to those parts and are left out.
struct Known {
    variable: &'static str,
    below_home: &'static str,
    parts: &'static [&'static str],
}

const KNOWN: [Known; 13] = [
    Known { variable: "RUSTUP_HOME", below_home: ".rustup", parts: &[""] },
    Known { variable: "CARGO_HOME", below_home: ".cargo", parts: &["bin", "registry", "git"] },
    Known { variable: "PYENV_ROOT", below_home: ".pyenv", parts: &[""] },
    Known { variable: "NVM_DIR", below_home: ".nvm", parts: &["versions", "alias", "nvm.sh"] },
    Known { variable: "VOLTA_HOME", below_home: ".volta", parts: &["bin", "tools"] },
    Known { variable: "ASDF_DATA_DIR", below_home: ".asdf", parts: &[""] },
    Known { variable: "MISE_DATA_DIR", below_home: ".local/share/mise", parts: &[""] },
    Known { variable: "GOROOT", below_home: "sdk", parts: &[""] },
    Known { variable: "GOPATH", below_home: "go", parts: &["bin", "pkg/mod"] },
    Known { variable: "BUN_INSTALL", below_home: ".bun", parts: &["bin"] },
    Known { variable: "DENO_INSTALL", below_home: ".deno", parts: &["bin"] },
    Known { variable: "PYTHONUSERBASE", below_home: ".local", parts: &["bin", "lib"] },
    Known { variable: "JAVA_HOME", below_home: ".sdkman/candidates", parts: &[""] },
];

/// The toolchains outside the system's directories, outermost first, none within another.
pub(crate) fn find(
    env: &dyn Fn(&str) -> Option<OsString>,
    home: Option<&Path>,
    system: &[SystemEntry],
) -> Vec<PathBuf> {
    let known = KNOWN.iter().flat_map(|known| known.places(env, home));
    let on_path =
        env("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let mut found: Vec<PathBuf> = known
        .chain(on_path)
        .filter(|path| path.is_absolute() && !gives_home_away(path, home) && !is_within_system(path, system))
        .filter_map(|path| path.canonicalize().ok().filter(|real| *real == path))
        .collect();
    found.sort();
    found.dedup_by(|later, earlier| later.starts_with(earlier));
    found
}

impl Known {
    fn places(&self, env: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Vec<PathBuf> {
        let root = env(self.variable).map(PathBuf::from).or_else(|| Some(home?.join(self.below_home)));
        let join = |root: &Path, part: &str| if part.is_empty() { root.to_owned() } else { root.join(part) };
        root.map(|root| self.parts.iter().map(|part| join(&root, part)).collect()).unwrap_or_default()
    }
}

/// A directory on `PATH` that is the home itself, or above it, is not a toolchain.
fn gives_home_away(path: &Path, home: Option<&Path>) -> bool {
    path.parent().is_none() || home.is_some_and(|home| home.starts_with(path))
}

fn is_within_system(path: &Path, system: &[SystemEntry]) -> bool {
    system.iter().any(|entry| path.starts_with(entry.path()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::create_dir_all;

    use super::*;

    /// R70
    #[test]
    fn toolchains_are_found_without_the_credentials_beside_them() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for part in [".rustup", ".cargo/bin", ".cargo/registry", ".ssh", ".pyenv/shims", "tools/bin"] {
            create_dir_all(home.join(part)).unwrap();
        }
        std::fs::write(home.join(".cargo/credentials.toml"), "secret").unwrap();
        let path = format!("{h}/.cargo/bin:{h}/tools/bin:{h}:relative:/usr/bin", h = home.display());
        let env = |name: &str| (name == "PATH").then(|| OsString::from(&path));
        let system = [SystemEntry::Directory("/usr".into())];
        let found = find(&env, Some(&home), &system);
        let expected = [".cargo/bin", ".cargo/registry", ".pyenv", ".rustup", "tools/bin"];
        assert_eq!(found, expected.map(|part| home.join(part)));
    }

    #[test]
    fn variables_win_over_usual_places() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let env = |name: &str| (name == "RUSTUP_HOME").then(|| root.clone().into_os_string());
        assert_eq!(find(&env, None, &[]), [root]);
    }
}
