//! Node's package managers: which one a project uses, and how its packages get to where Node finds them.

use exec_core::{Error, ErrorKind, Result};
use serde_json::Value;

use super::Project;
use crate::document;
use crate::ignore;
use crate::known;
use crate::part::{Layer, Part};
use crate::tree::{Tree, join};
use crate::version::Version;

const PLACE: &str = "/opt/node";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Npm,
    Pnpm,
    Yarn,
    YarnClassic,
    Bun,
}

/// A package manager, at a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manager {
    kind: Kind,
    version: String,
    why: String,
    lock: Option<String>,
}

/// Lock files and their package managers.
const LOCKS: &[(&str, Kind)] = &[
    ("package-lock.json", Kind::Npm),
    ("npm-shrinkwrap.json", Kind::Npm),
    ("pnpm-lock.yaml", Kind::Pnpm),
    ("yarn.lock", Kind::Yarn),
    ("bun.lock", Kind::Bun),
    ("bun.lockb", Kind::Bun),
];

pub(super) fn has_lock(tree: &Tree, place: &str) -> bool {
    LOCKS.iter().any(|(name, _)| tree.has(&join(place, name)))
}

impl Manager {
    /// Precedence: `packageManager` in package.json, then the existing lock file.
    pub(super) fn of(tree: &Tree, project: &Project<'_>) -> Result<Self> {
        let locks: Vec<(String, Kind)> = LOCKS
            .iter()
            .map(|(name, kind)| (join(project.place, name), *kind))
            .filter(|(path, _)| tree.has(path))
            .collect();
        for (path, _) in &locks {
            document::text(tree, path)?;
        }
        if let Some(said) = project.manifest.get("packageManager").and_then(Value::as_str)
            && let Some((kind, version)) = named(said)
        {
            let family = |kind| if kind == Kind::YarnClassic { Kind::Yarn } else { kind };
            let lock = locks.iter().find(|(_, of)| *of == family(kind)).map(|(path, _)| path.clone());
            let why = format!("{} says packageManager \"{said}\"", join(project.place, "package.json"));
            return Ok(Self { kind, version, why, lock });
        }
        let Some((lock, kind)) = locks.first().cloned() else {
            let why = "the project has no lock file; npm comes with Node".to_owned();
            return Ok(Self { kind: Kind::Npm, version: String::new(), why, lock: None });
        };
        if let Some((other, _)) = locks.iter().find(|(_, of)| *of != kind) {
            return Err(Error::new(ErrorKind::InvalidInput, "bootstrap", format!("{lock} and {other} belong to different package managers"))
                .with_remedy("remove the one that is not used, or name the package manager in package.json (\"packageManager\")"));
        }
        let (kind, version) = locked(kind, tree.text(&lock)?.unwrap_or_default());
        Ok(Self { kind, version, why: format!("{lock} is there"), lock: Some(lock) })
    }
}

/// `pnpm@9.1.0+sha512.…`
fn named(said: &str) -> Option<(Kind, String)> {
    let (name, version) = said.split_once('@')?;
    let version = Version::parse(version)?;
    let kind = match name {
        "npm" => Kind::Npm,
        "pnpm" => Kind::Pnpm,
        "yarn" if version.major == 1 => Kind::YarnClassic,
        "yarn" => Kind::Yarn,
        "bun" => Kind::Bun,
        _ => return None,
    };
    Some((kind, version.to_string()))
}

/// Derives the package manager and its version from the format of a lock file.
fn locked(kind: Kind, lock: &str) -> (Kind, String) {
    let (kind, version) = match kind {
        Kind::Yarn if !lock.contains("__metadata:") => (Kind::YarnClassic, known::YARN_CLASSIC),
        Kind::Yarn | Kind::YarnClassic => (kind, known::YARN),
        Kind::Npm => (kind, ""),
        Kind::Bun => (kind, known::BUN),
        Kind::Pnpm => {
            let format = lock.lines().find_map(|line| line.strip_prefix("lockfileVersion:"));
            let format = format.map(|said| said.trim().trim_matches(['\'', '"'])).and_then(Version::parse);
            let version = match format.map(|format| format.major) {
                Some(5) => "7",
                Some(6) => "8",
                Some(9) => "9",
                _ => known::PNPM,
            };
            (kind, version)
        }
    };
    (kind, version.to_owned())
}

/// Adds the package manager and the packages.
pub(super) fn add(part: &mut Part, tree: &Tree, project: &Project<'_>, manager: &Manager) {
    let name = manager.name();
    part.because(
        format!(
            "{name}{}",
            if manager.version.is_empty() { String::new() } else { format!(" {}", manager.version) }
        ),
        manager.why.clone(),
    );
    part.because(
        "packages in /node_modules",
        "Node looks for them in every directory above a file, so that it finds them there from wherever the project is mounted",
    );
    if let Some(package) = manager.package() {
        part.layers.push(Layer {
            comment: vec![format!("{name} as the project wants it.")],
            caches: vec!["/root/.npm"],
            commands: vec![format!("npm install --global --force {package}")],
            ..Layer::default()
        });
    }
    part.path = vec!["/node_modules/.bin"];
    let at = join(PLACE, project.place).trim_end_matches('/').to_owned();
    let mut commands = manager.install();
    let mut comment = vec![
        "Packages are part of the image. They are linked to /node_modules, where Node looks last from any directory; a".to_owned(),
        "node_modules in the project comes first. The project's own scripts (prepare, postinstall) do not run here.".to_owned(),
    ];
    if !project.members.is_empty() {
        // A link to a manifest without sources would hide the reason of a failing import.
        commands.push("find node_modules -maxdepth 2 -type l ! -path '*/.bin/*' -delete".to_owned());
        comment.push(
            "Packages of this repository that import each other need links in its own node_modules."
                .to_owned(),
        );
        part.warnings.push(
            "packages of this repository that import each other need links in its own node_modules: make them once with `agentctl run --network bridge` and the package manager"
                .to_owned(),
        );
    }
    commands.push("mkdir -p node_modules".to_owned());
    commands.push(format!("ln -s {at}/node_modules /node_modules"));
    part.layers.push(Layer {
        comment,
        directory: PLACE.to_owned(),
        place: project.place.to_owned(),
        files: files(tree, project, manager),
        caches: vec![manager.cache()],
        commands,
    });
}

fn files(tree: &Tree, project: &Project<'_>, manager: &Manager) -> Vec<String> {
    let names = ["package.json", "pnpm-workspace.yaml", ".pnpmfile.cjs", ".yarnrc.yml"];
    let mut files: Vec<String> =
        names.map(|name| join(project.place, name)).into_iter().filter(|path| tree.has(path)).collect();
    files.extend(manager.lock.clone());
    let settings = join(project.place, ".npmrc");
    files.extend((tree.has(&settings) && !ignore::holds_token(tree, &settings)).then_some(settings));
    let kept = [".yarn/", "patches/"].map(|name| join(project.place, name));
    let is_kept = |path: &str| kept.iter().any(|place| path.starts_with(place));
    files.extend(tree.matching(is_kept).into_iter().map(str::to_owned));
    files.extend(project.members.iter().map(|path| (*path).to_owned()));
    files
}

impl Manager {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Npm => "npm",
            Kind::Pnpm => "pnpm",
            Kind::Yarn => "Yarn",
            Kind::YarnClassic => "Yarn (classic)",
            Kind::Bun => "Bun",
        }
    }

    /// The package to install, if Node's image lacks this manager or version.
    fn package(&self) -> Option<String> {
        let package = match self.kind {
            Kind::Npm if self.version.is_empty() => return None,
            Kind::Npm => "npm",
            Kind::Pnpm => "pnpm",
            Kind::Yarn => "@yarnpkg/cli-dist",
            Kind::YarnClassic => "yarn",
            Kind::Bun => "bun",
        };
        Some(format!("{package}@{}", self.version))
    }

    fn cache(&self) -> &'static str {
        match self.kind {
            Kind::Npm => "/root/.npm",
            Kind::Pnpm => "/var/cache/pnpm",
            Kind::Yarn | Kind::YarnClassic => "/usr/local/share/.cache/yarn",
            Kind::Bun => "/var/cache/bun",
        }
    }

    /// Installs exactly what the lock file names, in one flat `node_modules`. Scripts of packages run; those of the
    /// project do not, because its sources are missing.
    fn install(&self) -> Vec<String> {
        let is_locked = self.lock.is_some();
        let frozen = |flag: &'static str| if is_locked { flag } else { "" };
        let install = match self.kind {
            Kind::Npm if is_locked => "npm ci --ignore-scripts".to_owned(),
            Kind::Npm => "npm install --ignore-scripts".to_owned(),
            Kind::Pnpm => format!(
                "pnpm install{} --ignore-scripts --store-dir /var/cache/pnpm --config.node-linker=hoisted",
                frozen(" --frozen-lockfile")
            ),
            Kind::YarnClassic => {
                format!("yarn install{} --ignore-scripts", frozen(" --frozen-lockfile"))
            }
            Kind::Yarn => format!(
                "YARN_NODE_LINKER=node-modules YARN_GLOBAL_FOLDER=/usr/local/share/.cache/yarn yarn install{} --mode=skip-build",
                frozen(" --immutable")
            ),
            Kind::Bun => {
                format!(
                    "BUN_INSTALL_CACHE_DIR=/var/cache/bun bun install{} --ignore-scripts",
                    frozen(" --frozen-lockfile")
                )
            }
        };
        vec![install, "npm rebuild".to_owned()]
    }
}
