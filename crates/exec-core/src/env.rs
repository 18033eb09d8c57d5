//! The command's environment: an allowlist of the caller's variables, never all of them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variables that describe the user, terminal, language and toolchains and carry no secrets.
const ALLOWED: [&str; 27] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "CLICOLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "SOURCE_DATE_EPOCH",
    "CI",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "NVM_DIR",
    "GOROOT",
    "JAVA_HOME",
    "VOLTA_HOME",
    "ASDF_DIR",
];

/// Which of the caller's variables a command inherits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EnvPolicy {
    /// A fixed list: `PATH`, `HOME`, `LANG`, `TERM` and the like.
    #[default]
    Allowlist,
    /// That list and these variables.
    Also(Vec<OsString>),
    /// Only `PATH`, and the variables that the options set.
    Clean,
}

/// The variables of `environment` that a command inherits. Relative entries of `PATH` are dropped: a program planted in
/// the workspace must not be found before the real one.
pub fn inherited_environment(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    policy: &EnvPolicy,
) -> BTreeMap<OsString, OsString> {
    let allowed = |name: &OsStr| match policy {
        EnvPolicy::Clean => name == "PATH",
        EnvPolicy::Allowlist => is_allowed(name),
        EnvPolicy::Also(more) => is_allowed(name) || more.iter().any(|also| also == name),
    };
    let mut inherited: BTreeMap<OsString, OsString> =
        environment.into_iter().filter(|(name, _)| allowed(name)).collect();
    let path = inherited.get(OsStr::new("PATH")).map(|path| absolute_parts(path));
    let path = path.filter(|path| !path.is_empty()).unwrap_or_else(|| DEFAULT_PATH.into());
    inherited.insert("PATH".into(), path);
    inherited
}

const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn is_allowed(name: &OsStr) -> bool {
    ALLOWED.iter().any(|allowed| name == *allowed) || name.as_encoded_bytes().starts_with(b"LC_")
}

fn absolute_parts(path: &OsStr) -> OsString {
    let parts = std::env::split_paths(path).filter(|part| Path::is_absolute(part));
    std::env::join_paths(parts).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inherit(pairs: &[(&str, &str)], policy: &EnvPolicy) -> Vec<(String, String)> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let text = |value: OsString| value.into_string().unwrap();
        inherited_environment(pairs, policy)
            .into_iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    /// A33
    #[test]
    fn secrets_and_loader_tricks_stay_outside() {
        let caller = [
            ("PATH", "/bin"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("LD_PRELOAD", "/x.so"),
            ("BASH_ENV", "/x"),
            ("LC_ALL", "C"),
        ];
        let seen = inherit(&caller, &EnvPolicy::Allowlist);
        assert_eq!(seen, [("LC_ALL".into(), "C".into()), ("PATH".into(), "/bin".into())]);
        let also = inherit(&caller, &EnvPolicy::Also(vec!["AWS_SECRET_ACCESS_KEY".into()]));
        assert!(also.contains(&("AWS_SECRET_ACCESS_KEY".into(), "x".into())));
    }

    /// A32
    #[test]
    fn relative_parts_of_path_are_dropped() {
        assert_eq!(inherit(&[("PATH", ".:/bin::bin:/usr/bin")], &EnvPolicy::Clean)[0].1, "/bin:/usr/bin");
        assert_eq!(inherit(&[("PATH", ".")], &EnvPolicy::Clean)[0].1, DEFAULT_PATH);
    }
}
