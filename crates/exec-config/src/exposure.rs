//! A configuration that counts must not be writable at a second place: a command would decide about the next run (A38).

use exec_core::{Access, MountSpec, Result};

use crate::config::Config;
use crate::fault::invalid;
use crate::surroundings::Surroundings;

impl Config {
    /// Refuses mounts through which a command could write a file that this was read from.
    pub fn refuse_exposure(&self, host: &impl Surroundings, mounts: &[MountSpec]) -> Result<()> {
        for mount in mounts.iter().filter(|mount| mount.access == Access::ReadWrite) {
            // A source that is not there is refused by the check that every mount goes through.
            let Ok(source) = host.canonical(&mount.source) else { continue };
            if let Some(file) = self.files().iter().find(|file| file.starts_with(&source)) {
                return Err(invalid(format!(
                    "`{}` is refused: a command could write the configuration `{}`",
                    mount.source.display(),
                    file.display()
                ))
                .with_remedy("mount another directory, or pass --allow-dangerous-mounts if you mean it"));
            }
        }
        Ok(())
    }
}
