//! Settings from one source, and the sandboxes they apply to.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use exec_core::printable;

use crate::key::KEYS;
use crate::node::Position;
use crate::setting::Setting;
use crate::values::WorkspaceAccess;

/// A sandbox that can have settings of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// This host, without containers.
    Local,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Docker, Self::Podman, Self::Local];

    /// The name of its executor.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Local => "local",
        }
    }

    /// By the name of its executor.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    pub(crate) fn has_images(self) -> bool {
        self != Self::Local
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The sandboxes a setting applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All of them.
    Everywhere,
    /// Only this one.
    On(Engine),
}

impl Scope {
    pub(crate) fn covers(self, engine: Engine) -> bool {
        self == Self::Everywhere || self == Self::On(engine)
    }
}

/// Where a setting came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Not set anywhere.
    Default,
    /// A file, at this position.
    File(Arc<Path>, Position),
    /// A variable of the environment.
    Variable(&'static str),
    /// An option of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, at) => write!(f, "{}:{at}", path.display()),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// A setting with its scope and origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The sandboxes it applies to.
    pub scope: Scope,
    /// Key and value.
    pub setting: Setting,
    /// Where it came from.
    pub origin: Origin,
}

impl Entry {
    /// A setting given on the command line.
    pub fn of_flag(setting: Setting) -> Self {
        let flag = KEYS.iter().find(|key| key.name == setting.key()).map_or("", |key| key.flag);
        Self { scope: Scope::Everywhere, setting, origin: Origin::Flag(flag) }
    }

    /// Its key as written in a file.
    pub fn key(&self) -> String {
        match self.scope {
            Scope::Everywhere => self.setting.key().to_owned(),
            Scope::On(engine) => {
                let name = match &self.setting {
                    Setting::WorkspaceMode(_) => "readonly",
                    Setting::TmpSize(_) => "tmpfs",
                    Setting::Mounts(_) => "volumes",
                    other => other.key(),
                };
                format!("executor.{engine}.{name}")
            }
        }
    }

    /// Its value as written under that key, on one line that is safe to print.
    pub fn value(&self) -> String {
        match (self.scope, &self.setting) {
            (Scope::On(_), Setting::WorkspaceMode(mode)) => (*mode == WorkspaceAccess::Ro).to_string(),
            (_, setting) => printable::line(&setting.to_string()).into_owned(),
        }
    }
}

/// All settings of one source.
pub(crate) type Layer = Vec<Entry>;
