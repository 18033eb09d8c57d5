//! Toolchains in home directories: found by their variables, their usual places and `PATH`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::secrets::outermost;
use crate::{SystemEntry, credentials};

/// A version manager or language: the variable that names its root, the root's usual place below the home,
/// and the parts of the root that tools need. Credentials next to those parts are left out; credentials
/// inside an installation are searched for in `configured`.
struct Known {
    variable: &'static str,
    below_home: &'static str,
    parts: &'static [&'static str],
    configured: &'static [&'static str],
}

/// Where `npm` looks below a Node installation.
const NODE: &[&str] = &[
    "versions/node/*",
    "versions/node/*/etc",
    "versions/node/*/lib/node_modules/npm",
    "tools/image/node/*",
    "tools/image/node/*/etc",
    "tools/image/node/*/lib/node_modules/npm",
];

/// The same for managers of several languages.
const ANYTHING: &[&str] = &[
    "",
    "plugins/*",
    "installs/*/*",
    "installs/*/*/etc",
    "installs/*/*/conf",
    "installs/*/*/*/conf",
    "installs/*/*/lib/node_modules/npm",
];

const KNOWN: [Known; 13] = [
    Known { variable: "RUSTUP_HOME", below_home: ".rustup", parts: &[""], configured: &[""] },
    Known {
        variable: "CARGO_HOME",
        below_home: ".cargo",
        parts: &["bin", "registry", "git"],
        configured: &["registry"],
    },
    Known {
        variable: "PYENV_ROOT",
        below_home: ".pyenv",
        parts: &[""],
        configured: &["", "plugins/*", "versions/*", "versions/*/etc", "versions/*/envs/*"],
    },
    Known {
        variable: "NVM_DIR",
        below_home: ".nvm",
        parts: &["versions", "alias", "nvm.sh"],
        configured: NODE,
    },
    Known { variable: "VOLTA_HOME", below_home: ".volta", parts: &["bin", "tools"], configured: NODE },
    Known { variable: "ASDF_DATA_DIR", below_home: ".asdf", parts: &[""], configured: ANYTHING },
    Known { variable: "MISE_DATA_DIR", below_home: ".local/share/mise", parts: &[""], configured: ANYTHING },
    Known { variable: "GOROOT", below_home: "sdk", parts: &[""], configured: &["", "*"] },
    Known { variable: "GOPATH", below_home: "go", parts: &["bin", "pkg/mod"], configured: &[] },
    Known { variable: "BUN_INSTALL", below_home: ".bun", parts: &["bin"], configured: &[] },
    Known { variable: "DENO_INSTALL", below_home: ".deno", parts: &["bin"], configured: &[] },
    Known { variable: "PYTHONUSERBASE", below_home: ".local", parts: &["bin", "lib"], configured: &["lib"] },
    Known {
        variable: "JAVA_HOME",
        below_home: ".sdkman/candidates",
        parts: &[""],
        configured: &["", "conf", "*/*", "*/*/conf"],
    },
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
    let found: Vec<PathBuf> = known
        .chain(on_path)
        .filter(|path| path.is_absolute() && !gives_home_away(path, home) && !is_within_system(path, system))
        .filter_map(|path| path.canonicalize().ok().filter(|real| *real == path))
        .collect();
    outermost(found)
}

/// The credentials within these toolchains, none within another.
pub(crate) fn credentials(
    env: &dyn Fn(&str) -> Option<OsString>,
    home: Option<&Path>,
    toolchains: &[PathBuf],
) -> Vec<PathBuf> {
    let is_shown = |path: &Path| toolchains.iter().any(|toolchain| path.starts_with(toolchain));
    let configured = KNOWN.iter().filter_map(|known| Some((known, known.root(env, home)?)));
    let configured = configured.flat_map(|(known, root)| {
        // Directories above a toolchain are not shown and need no listing.
        let places = known.configured.iter().filter(|place| {
            let fixed = place.split('/').take_while(|name| *name != "*");
            is_shown(&fixed.fold(root.clone(), |path, name| path.join(name)))
        });
        places.map(|place| (root.clone(), *place)).collect::<Vec<_>>()
    });
    let themselves = toolchains.iter().map(|toolchain| (toolchain.clone(), ""));
    let found = credentials::find(configured.chain(themselves));
    outermost(found.into_iter().filter(|path| is_shown(path)).collect())
}

impl Known {
    fn root(&self, env: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Option<PathBuf> {
        env(self.variable).map(PathBuf::from).or_else(|| Some(home?.join(self.below_home)))
    }

    fn places(&self, env: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Vec<PathBuf> {
        let root = self.root(env, home);
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

    /// A49
    #[test]
    fn credentials_within_toolchains_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let files = [
            ".asdf/installs/nodejs/22/etc/npmrc",
            ".local/share/mise/installs/python/3.13/pip.conf",
            ".nvm/versions/node/v22/etc/npmrc",
            ".pyenv/plugins/private/.git/config",
            ".pyenv/versions/3.12.0/pip.conf",
            ".sdkman/candidates/gradle/8/gradle.properties",
            "tools/bin/.netrc",
        ];
        for file in files.iter().chain(&[".nvm/.npmrc", ".pyenv/versions/3.12.0/bin/python"]) {
            create_dir_all(home.join(file).parent().unwrap()).unwrap();
            std::fs::write(home.join(file), "token").unwrap();
        }
        let env = |name: &str| (name == "PATH").then(|| home.join("tools/bin").into_os_string());
        let toolchains = find(&env, Some(&home), &[]);
        let found = credentials(&env, Some(&home), &toolchains);
        // The plugin's repository as a whole; files next to nvm's parts are not shown and need no hiding.
        let expected = files.map(|file| home.join(file.trim_end_matches("/config")));
        assert_eq!(found, expected);
    }
}
