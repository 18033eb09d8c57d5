//! Settings from one source, and the backends they apply to.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use exec_core::printable;

use crate::node::Position;
use crate::options::{RunOption, Sandbox, Setting};

/// The backends a setting applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    Everywhere,
    /// Only this one.
    On(&'static str),
}

impl Scope {
    /// Whether a setting applies to this backend, or to none in particular.
    pub(crate) fn covers(self, backend: Option<&str>) -> bool {
        match self {
            Self::Everywhere => true,
            Self::On(name) => backend == Some(name),
        }
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
    Variable(String),
    /// An option of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, at) => write!(f, "{}:{at}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// A setting with its scope and origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The backends it applies to.
    pub scope: Scope,
    /// Option and value.
    pub setting: Setting,
    /// Where it came from.
    pub origin: Origin,
}

impl Entry {
    /// A setting given on the command line.
    pub fn of_flag(setting: Setting) -> Self {
        let origin = Origin::Flag(setting.option().flag);
        Self { scope: Scope::Everywhere, setting, origin }
    }

    /// Its key as written in a file.
    pub fn key(&self) -> String {
        let option = self.setting.option();
        match self.scope {
            Scope::Everywhere => option.name.to_owned(),
            Scope::On(backend) => {
                let name = option.section.as_ref().map_or(option.name, |section| section.name);
                format!("{}.{backend}.{name}", Sandbox::DOCS.name)
            }
        }
    }

    /// Its value as written under that key, on one line that is safe to print.
    pub fn value(&self) -> String {
        let value = match self.scope {
            Scope::Everywhere => self.setting.to_string(),
            Scope::On(_) => self.setting.show_in_section(),
        };
        printable::line(&value).into_owned()
    }
}

/// All settings of one source.
pub(crate) type Layer = Vec<Entry>;
