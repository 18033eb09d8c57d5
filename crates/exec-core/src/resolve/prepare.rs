//! Prepares a plan for its cell: the only step that writes.

use std::ops::Deref;

use super::first_sight::{self, Keeps, Writable};
use super::{Fence, Plan, git, mounts};
use crate::{Access, Result};

/// Whether an executor's cells support the mounts that keep files unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// They do.
    Hold,
    /// They have no mounts.
    None,
}

/// A plan with everything its cell needs in place. Its mounts include those that keep files unchanged.
#[derive(Debug, Clone)]
pub struct Prepared {
    plan: Plan,
    /// The number of requested mounts. The fences follow them.
    asked_for: usize,
}

impl Deref for Prepared {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl Prepared {
    /// The plan that follows from the options alone, without the fences for files of the workspace.
    #[must_use]
    pub fn without_fences(&self) -> Self {
        let mut plain = self.clone();
        plain.plan.mounts.truncate(self.asked_for);
        plain
    }
}

impl Plan {
    /// Notes what the writable directories hold before a command can change it. Executors call this before anything else
    /// that the plan leads to: a program that the host runs for it, like an image's build, is not looked up in a directory
    /// with a note.
    ///
    /// # Errors
    ///
    /// Fails if a note can't be written.
    pub fn note(&self, fences: Fences) -> Result<()> {
        for writable in mounts::writable(&self.workspace, &self.mounts, &self.fences) {
            // Without mounts, only parts of a repository elsewhere are opened, but all of one in the workspace.
            let keeps = match (fences, writable.keeps) {
                (Fences::None, Keeps::ItsRepository) => Keeps::Nothing,
                (_, keeps) => keeps,
            };
            first_sight::note(&Writable { keeps, ..writable })?;
        }
        Ok(())
    }

    /// Creates what a cell for this plan lacks, with the [notes](Self::note) taken. Executors call this just before they
    /// make or use a cell.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be kept unchanged – other commands may have changed the workspace since the plan was made –
    /// or if a note can't be written.
    pub fn prepare(mut self, fences: Fences) -> Result<Prepared> {
        self.refuse_new_repositories()?;
        let kept = self.fences.iter().map(Fence::put_up).collect::<Result<Vec<_>>>()?;
        self.note(fences)?;
        let asked_for = self.mounts.len();
        self.mounts.extend(kept);
        Ok(Prepared { plan: self, asked_for })
    }

    /// Refuses repositories that have appeared since the plan was made: they have no fences.
    fn refuse_new_repositories(&self) -> Result<()> {
        let writable = self.mounts.iter().filter(|mount| mount.access == Access::ReadWrite);
        for directory in writable.map(|mount| &mount.source) {
            let repository = directory.join(".git");
            if !self.fences.iter().any(|fence| fence.source() == repository) {
                git::refuse_new(directory)?;
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
