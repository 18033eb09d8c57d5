//! The list of our own files that must stay out of every command's reach.
//!
//! A command that writes our records decides what we kill and remove; one that writes our configuration
//! decides about the next run; one that reaches an engine's socket has escaped. So nothing that is shown to a
//! command may contain one of these places or lie in one.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::UserDirs;

/// One of our own places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPlace {
    /// Its contents, as the object of a sentence: "the records of what runs".
    pub what: &'static str,
    /// Its path, without links in the part that exists.
    pub path: PathBuf,
}

/// Our own places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnPlaces(Vec<OwnPlace>);

impl OwnPlaces {
    /// Those of this process's user, from its environment. Looked up once.
    pub fn here() -> &'static Self {
        static HERE: OnceLock<OwnPlaces> = OnceLock::new();
        HERE.get_or_init(|| {
            let engines = ["DOCKER_HOST", "CONTAINER_HOST"].map(|name| {
                let address = std::env::var(name).ok()?;
                address.strip_prefix("unix://").map(PathBuf::from)
            });
            let configured = ENGINE_CONFIGURATION.map(|name| std::env::var_os(name).map(PathBuf::from));
            let places = Self::of(&UserDirs::here(), engines.into_iter().flatten());
            configured.into_iter().flatten().fold(places, |places, path| places.with(ENGINES_OWN, &path))
        })
    }

    /// Those of a user, and the sockets of these engines.
    pub fn of(dirs: &UserDirs, engines: impl IntoIterator<Item = PathBuf>) -> Self {
        let runtime =
            dirs.runtime.iter().flat_map(|runtime| ["podman", "docker.sock"].map(|name| runtime.join(name)));
        let fixed = [
            (RECORDS, Some(&dirs.records)),
            ("the sockets of our own services", Some(&dirs.sockets)),
            ("the cache with PID 1 of its own sandbox", Some(&dirs.cache)),
            ("the user's configuration", dirs.config.as_ref()),
            ("the list of trusted configurations", dirs.state.as_ref()),
            (AUDIT_LOG, dirs.audit_file.as_ref()),
        ];
        let fixed = fixed.into_iter().filter_map(|(what, path)| Some((what, path?.clone())));
        let engines = runtime.chain(engines).map(|path| (ENGINE, path));
        let home =
            dirs.home.iter().flat_map(|home| [".docker", ".config/containers"].map(|name| home.join(name)));
        let configuration = home.map(|path| (ENGINES_OWN, path));
        fixed
            .chain(engines)
            .chain(configuration)
            .fold(Self::default(), |places, (what, path)| places.with(what, &path))
    }

    /// Adds records at another path.
    #[must_use]
    pub fn with_records(self, directory: &Path) -> Self {
        self.with(RECORDS, directory)
    }

    /// Adds an audit log at another path.
    #[must_use]
    pub fn with_audit_log(self, file: &Path) -> Self {
        self.with(AUDIT_LOG, file)
    }

    fn with(mut self, what: &'static str, path: &Path) -> Self {
        if path.is_absolute() {
            self.0.push(OwnPlace { what, path: real(path) });
        }
        self
    }

    /// Adds the socket of an engine.
    #[must_use]
    pub fn with_engine(self, socket: &Path) -> Self {
        self.with(ENGINE, socket)
    }

    /// The first place that a command would reach through this path: the path contains the place, or lies in
    /// it. `shown` is canonical.
    pub fn reached_through(&self, shown: &Path) -> Option<&OwnPlace> {
        self.0.iter().find(|own| own.path.starts_with(shown) || shown.starts_with(&own.path))
    }
}

/// Variables that name configuration of engines, which in turn names programs to run.
const ENGINE_CONFIGURATION: [&str; 6] = [
    "DOCKER_CONFIG",
    "CONTAINERS_CONF",
    "CONTAINERS_CONF_OVERRIDE",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINERS_REGISTRIES_CONF",
    "REGISTRY_AUTH_FILE",
];

const ENGINES_OWN: &str = "the configuration of a container engine";
const RECORDS: &str = "the records of what runs";
const AUDIT_LOG: &str = "the audit log";
const ENGINE: &str = "the socket of a container engine";

/// Resolves links in the part that exists: a command that is shown the parent directory could make the rest.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, real)) = found else { return path.to_owned() };
    match path.strip_prefix(above) {
        // An empty rest would leave a slash at the end.
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// A38, A40
    #[rstest]
    #[case("home/.config", true)]
    #[case("home/.config/agentctl", true)]
    #[case("home/.local", true)]
    #[case("home/.local/state/agentctl/x", true)]
    #[case("home/.cache", true)]
    #[case("link", true)]
    #[case("tmp", true)]
    #[case("tmp/agentctl-7-state/cells", true)]
    #[case("run/podman", true)]
    #[case("colima", true)]
    #[case("home/.docker/contexts", true)]
    #[case("logs", true)]
    #[case("home/project", false)]
    #[case("home/.config/other", false)]
    #[case("tmp/project", false)]
    #[case("run/project", false)]
    fn own_places_stay_out_of_reach(#[case] shown: &str, #[case] refused: bool) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for made in ["home/.local", "tmp", "real"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("home/.local"), root.join("link")).unwrap();
        let variables = [
            ("HOME", root.join("home")),
            ("XDG_STATE_HOME", root.join("link/state")),
            ("TMPDIR", root.join("tmp")),
            ("AGENTCTL_AUDIT_FILE", root.join("logs/audit.jsonl")),
        ];
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, path)| path.into());
        let mut dirs = UserDirs::of(&variable, Some(7), &|_| false);
        dirs.runtime = Some(root.join("run"));
        let own = OwnPlaces::of(&dirs, [root.join("colima/docker.sock")]);
        let shown = root.join(shown);
        let shown = shown.canonicalize().unwrap_or(shown);
        assert_eq!(own.reached_through(&shown).is_some(), refused, "{own:?}");
    }
}
