//! The facts about this host that a search for an engine may use.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use exec_core::SearchPath;
use exec_files::UserDirs;

/// The most that is read of a file; configuration files are far shorter.
const MOST: u64 = 4 * 1024 * 1024;

/// A host to inspect: [`Here`] is the real one, and tests bring their own.
pub trait HostEnvironment {
    /// An environment variable.
    fn variable(&self, name: &str) -> Option<OsString>;
    /// A text file.
    fn read(&self, path: &Path) -> io::Result<String>;
    /// The entries of a directory, in any order.
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;
    /// Whether a path exists, as far as this process can see.
    fn exists(&self, path: &Path) -> bool;
    /// The first executable program of this name on the search path.
    fn program(&self, name: &str) -> Option<PathBuf>;
    /// The user id of this process, if the system has user ids.
    fn user_id(&self) -> Option<u32>;
    /// The ids of this process's groups.
    fn group_ids(&self) -> Vec<u32>;
    /// The operating system.
    fn system(&self) -> System;
    /// The directories of this user's files. By default, any existing directory counts as the user's.
    fn user_dirs(&self) -> UserDirs {
        UserDirs::of(&|name| self.variable(name), self.user_id(), &|path| self.exists(path))
    }
}

/// An operating system, as far as engines are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and similar systems.
    Linux,
    /// macOS, where engines run in a virtual machine.
    MacOs,
    /// Windows, where engines run in a virtual machine behind a named pipe.
    Windows,
}

/// The real host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Here;

impl HostEnvironment for Here {
    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        let bytes = exec_files::read_named(path, MOST)?;
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        SearchPath::here().find(name)
    }

    #[cfg(unix)]
    fn user_id(&self) -> Option<u32> {
        Some(rustix::process::geteuid().as_raw())
    }

    #[cfg(not(unix))]
    fn user_id(&self) -> Option<u32> {
        None
    }

    #[cfg(unix)]
    fn group_ids(&self) -> Vec<u32> {
        let groups = rustix::process::getgroups().unwrap_or_default();
        groups.into_iter().chain([rustix::process::getegid()]).map(rustix::process::Gid::as_raw).collect()
    }

    #[cfg(not(unix))]
    fn group_ids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn system(&self) -> System {
        if cfg!(windows) {
            System::Windows
        } else if cfg!(target_os = "macos") {
            System::MacOs
        } else {
            System::Linux
        }
    }

    fn user_dirs(&self) -> UserDirs {
        UserDirs::here()
    }
}

#[cfg(any(test, feature = "sample-host"))]
pub mod sample {
    //! Hosts for tests of engine discovery.

    use std::collections::BTreeMap;

    use super::{HostEnvironment, OsString, Path, PathBuf, System, io};

    /// A Linux host with an ordinary user and no engine.
    #[derive(Debug, Clone)]
    pub struct Sample {
        /// The operating system.
        pub system: System,
        /// The environment.
        pub variables: BTreeMap<&'static str, &'static str>,
        /// Its files.
        pub files: BTreeMap<PathBuf, String>,
        /// The process's groups.
        pub group_ids: Vec<u32>,
        /// The process's user.
        pub user_id: u32,
    }

    impl Default for Sample {
        fn default() -> Self {
            Self {
                system: System::Linux,
                variables: BTreeMap::from([("HOME", "/home/user"), ("USER", "user")]),
                files: BTreeMap::new(),
                group_ids: vec![1000],
                user_id: 1000,
            }
        }
    }

    impl Sample {
        /// A host with another operating system.
        #[must_use]
        pub fn on(system: System) -> Self {
            Self { system, ..Self::default() }
        }

        /// Adds an environment variable.
        #[must_use]
        pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
            self.variables.insert(name, value);
            self
        }

        /// Adds a file.
        #[must_use]
        pub fn file(mut self, path: &str, text: &str) -> Self {
            self.files.insert(path.into(), text.to_owned());
            self
        }
    }

    impl HostEnvironment for Sample {
        fn variable(&self, name: &str) -> Option<OsString> {
            self.variables.get(name).map(Into::into)
        }

        /// A file with the text `unreadable` can't be read.
        fn read(&self, path: &Path) -> io::Result<String> {
            match self.files.get(path).map(String::as_str) {
                None => Err(io::ErrorKind::NotFound.into()),
                Some("unreadable") => Err(io::ErrorKind::PermissionDenied.into()),
                Some(text) => Ok(text.to_owned()),
            }
        }

        fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
            let below = self.files.keys().filter_map(|path| path.strip_prefix(directory).ok());
            let mut names: Vec<_> = below.filter_map(|rest| rest.iter().next()).collect();
            names.dedup();
            Ok(names.into_iter().map(|name| directory.join(name)).collect())
        }

        fn exists(&self, path: &Path) -> bool {
            self.files.keys().any(|file| file.starts_with(path))
        }

        /// `/usr/bin` is the whole search path.
        fn program(&self, name: &str) -> Option<PathBuf> {
            Some(Path::new("/usr/bin").join(name)).filter(|program| self.exists(program))
        }

        fn user_id(&self) -> Option<u32> {
            (self.system != System::Windows).then_some(self.user_id)
        }

        fn group_ids(&self) -> Vec<u32> {
            self.group_ids.clone()
        }

        fn system(&self) -> System {
            self.system
        }
    }
}
