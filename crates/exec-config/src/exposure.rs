//! An effective configuration file must not be writable through a mount: a command could then configure the next run
//! (A38).

use exec_core::{Access, MountSpec, Remedy, Result};

use crate::config::Config;
use crate::fault::invalid;
use crate::surroundings::HostEnvironment;

impl Config {
    /// Refuses mounts through which a command could write one of the configuration files.
    pub fn refuse_exposure(&self, host: &impl HostEnvironment, mounts: &[MountSpec]) -> Result<()> {
        for mount in mounts.iter().filter(|mount| mount.access == Access::ReadWrite) {
            // A missing source is refused by the check of all mounts.
            let Ok(source) = host.canonical(&mount.source) else { continue };
            if let Some(file) = self.files().iter().find(|file| file.starts_with(&source)) {
                return Err(invalid(format!(
                    "`{}` is refused: a command could write the configuration `{}`",
                    mount.source.display(),
                    file.display()
                ))
                .with_remedy(Remedy::from("mount another directory").or(Remedy::dangerous_mounts())));
            }
        }
        Ok(())
    }
}
