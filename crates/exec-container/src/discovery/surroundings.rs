//! What of this host a search for an engine may look at.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use exec_core::SearchPath;
use exec_files::UserDirs;

/// The most that is read of a file; people's configuration is far shorter.
const MOST: u64 = 4 * 1024 * 1024;

/// A host to look at: the real one is [`Here`], and tests bring their own.
pub trait HostEnvironment {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<OsString>;
    /// A text file.
    fn read(&self, path: &Path) -> io::Result<String>;
    /// What is in a directory, in any order.
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;
    /// Whether there is anything at a path, as far as can be seen.
    fn exists(&self, path: &Path) -> bool;
    /// A program of this name on the search path that may run on this host.
    fn program(&self, name: &str) -> Option<PathBuf>;
    /// The user id of this process, where there are such.
    fn user_id(&self) -> Option<u32>;
    /// The ids of the groups that this process is in.
    fn group_ids(&self) -> Vec<u32>;
    /// What sort of system it is.
    fn system(&self) -> System;
    /// Where this user's programs keep their files. Here a directory that exists is the user's.
    fn user_dirs(&self) -> UserDirs {
        UserDirs::of(&|name| self.variable(name), self.user_id(), &|path| self.exists(path))
    }
}

/// A sort of system, as far as engines are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux, and whatever is like it.
    Linux,
    /// macOS, where an engine lives in a virtual machine.
    MacOs,
    /// Windows, likewise, behind a named pipe.
    Windows,
}

/// This very host.
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
    //! Hosts for the tests of whoever looks for an engine.

    use std::collections::BTreeMap;

    use super::{HostEnvironment, OsString, Path, PathBuf, System, io};

    /// A Linux host of an ordinary user with no engine on it.
    #[derive(Debug, Clone)]
    pub struct Sample {
        /// What sort of system it is.
        pub system: System,
        /// The environment.
        pub variables: BTreeMap<&'static str, &'static str>,
        /// Its files.
        pub files: BTreeMap<PathBuf, String>,
        /// The groups of the process.
        pub group_ids: Vec<u32>,
        /// Its user.
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
        /// One of another sort.
        #[must_use]
        pub fn on(system: System) -> Self {
            Self { system, ..Self::default() }
        }

        /// With a variable.
        #[must_use]
        pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
            self.variables.insert(name, value);
            self
        }

        /// With a file.
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

        /// A file whose text says so can't be read.
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
