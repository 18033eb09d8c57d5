//! From a plan to one that a cell can be made for: the only step that writes.

use std::ops::Deref;

use super::first_sight::{self, Keeps, Writable};
use super::{Fence, Plan, git, mounts};
use crate::{Access, Result};

/// Whether an executor's cells hold the mounts that keep files as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// They do.
    Hold,
    /// There are no mounts.
    None,
}

/// A plan with everything in place that its cell needs. Its mounts include those that keep files as they are.
#[derive(Debug, Clone)]
pub struct Prepared {
    plan: Plan,
    /// How many of the mounts were asked for. The fences come after these.
    asked_for: usize,
}

impl Deref for Prepared {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl Prepared {
    /// The plan as the options alone make it, whatever the workspace holds that is kept as it is.
    #[must_use]
    pub fn without_fences(&self) -> Self {
        let mut plain = self.clone();
        plain.plan.mounts.truncate(self.asked_for);
        plain
    }
}

impl Plan {
    /// Makes what a cell for this plan needs and is missing, and notes what the writable directories hold before a command can
    /// change it. Executors call this before they make or use a cell.
    ///
    /// # Errors
    ///
    /// Where a file can't be kept as it is: other commands may have changed the workspace since the plan was made. And where
    /// nothing can be noted.
    pub fn prepare(mut self, fences: Fences) -> Result<Prepared> {
        self.refuse_new_repositories()?;
        let kept = self.fences.iter().map(Fence::put_up).collect::<Result<Vec<_>>>()?;
        for writable in mounts::writable(&self.workspace, &self.mounts, &kept) {
            // Of a repository elsewhere only parts are opened where there are no mounts; one in the workspace is open as a whole.
            let keeps = match (fences, writable.keeps) {
                (Fences::None, Keeps::ItsRepository) => Keeps::Nothing,
                (_, keeps) => keeps,
            };
            first_sight::note(&Writable { keeps, ..writable })?;
        }
        let asked_for = self.mounts.len();
        self.mounts.extend(kept);
        Ok(Prepared { plan: self, asked_for })
    }

    /// A repository that has appeared since the plan was made has no fences.
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
