//! Who a command runs as where it can be anybody.

use super::{Plan, PlannedMount, invalid, os};
use crate::{Access, Preset, Result, User};

/// Who owns nothing.
const NOBODY: (u32, u32) = (65_534, 65_534);

impl Plan {
    /// User and group for executors that can run commands as anybody: the owner of the workspace, so that files made
    /// inside belong to the caller, unless somebody else was named. The strict preset never gives user 0.
    pub fn identity(&self) -> Result<(u32, u32)> {
        match self.user {
            User::Id { uid, gid } => self.must_write((uid, gid)),
            User::Auto if self.preset == Preset::Strict && self.workspace_owner.0 == 0 => {
                self.must_write(NOBODY)
            }
            User::Auto => Ok(self.workspace_owner),
        }
    }

    /// A workspace that shall be written, and can't be by this user, is told before anything starts.
    fn must_write(&self, who: (u32, u32)) -> Result<(u32, u32)> {
        let is_written =
            |mount: &&PlannedMount| mount.source == self.workspace && mount.access == Access::ReadWrite;
        let may = match self.mounts.iter().find(is_written) {
            Some(mount) => os::may_write(&mount.source, who)?,
            None => true,
        };
        if may {
            return Ok(who);
        }
        let (uid, gid) = who;
        Err(invalid(format!("the user {uid}:{gid} can't write the workspace"))
            .with_context("workspace", self.workspace.display())
            .with_context("owner", format_args!("{}:{}", self.workspace_owner.0, self.workspace_owner.1))
            .with_remedy(format!(
                "give it to that user (chown {uid}:{gid}), mount it read-only (--workspace-mode ro), or name another --user"
            )))
    }
}
