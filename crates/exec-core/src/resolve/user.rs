//! The user a command runs as, for executors that can choose any user.

use super::{Plan, PlannedMount, invalid};
use crate::{Access, Change, Preset, Remedy, Result, User};

/// The user and group that own nothing.
pub const NOBODY: (u32, u32) = (65_534, 65_534);

impl Plan {
    /// User and group for executors that can run commands as any user: the named user, or else the owner of the
    /// workspace, so that files created inside belong to the caller. The strict preset never uses user 0.
    pub fn identity(&self) -> Result<(u32, u32)> {
        match self.user {
            User::Id { uid, gid } => self.must_write((uid, gid)),
            User::Auto if self.preset == Preset::Strict && self.workspace_owner.0 == 0 => {
                self.must_write(NOBODY)
            }
            User::Auto => Ok(self.workspace_owner),
        }
    }

    /// Whether an unprivileged user can create files in the workspace, by its mode; access lists are not checked.
    fn may_write(&self, (uid, gid): (u32, u32)) -> bool {
        // Write and search.
        const NEEDED: u32 = 0o3;
        let shift = match (self.workspace_owner.0 == uid, self.workspace_owner.1 == gid) {
            (true, _) => 6,
            (false, true) => 3,
            (false, false) => 0,
        };
        (self.workspace_mode >> shift) & NEEDED == NEEDED
    }

    /// Refuses, before anything starts, a user that can't write a workspace that has to be writable.
    fn must_write(&self, who: (u32, u32)) -> Result<(u32, u32)> {
        let is_written =
            |mount: &&PlannedMount| mount.source == self.workspace && mount.access == Access::ReadWrite;
        if !self.mounts.iter().any(|mount| is_written(&mount)) || self.may_write(who) {
            return Ok(who);
        }
        let (uid, gid) = who;
        Err(invalid(format!("the user {uid}:{gid} can't write the workspace"))
            .with_context("workspace", self.workspace.display())
            .with_context("owner", format_args!("{}:{}", self.workspace_owner.0, self.workspace_owner.1))
            .with_remedy(
                Remedy::host(format!("give it to that user (chown {uid}:{gid})"))
                    .or(Change::set("workspace_mode", "ro").with_purpose("to mount it read-only"))
                    .or(Change::give("user").with_purpose("to name another")),
            ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cmd, ErrorKind, ExecOpts, Limits, OwnPlaces};

    fn plan(opts: ExecOpts, owner: (u32, u32), mode: u32) -> Plan {
        let dir = tempfile::tempdir().unwrap();
        let opts = ExecOpts { workspace: ExecOpts::in_workspace(dir.path()).workspace, ..opts };
        let mut plan = Plan::resolve(&Cmd::new("x"), &opts, [], &OwnPlaces::default()).unwrap();
        (plan.workspace_owner, plan.workspace_mode) = (owner, mode);
        plan
    }

    /// R24
    #[test]
    fn the_owner_unless_somebody_is_named() {
        assert_eq!(plan(ExecOpts::default(), (7, 8), 0o700).identity().unwrap(), (7, 8));
        let named = ExecOpts::default().with_user(User::Id { uid: 9, gid: 8 });
        assert_eq!(plan(named.clone(), (7, 8), 0o770).identity().unwrap(), (9, 8), "the group may write");
        let refused = plan(named.clone(), (7, 8), 0o755).identity().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert!(refused.remedy().is_some_and(|remedy| remedy.to_string().contains("chown 9:8")));
        let mut read_only = plan(named, (7, 8), 0o755);
        read_only.mounts.iter_mut().for_each(|mount| mount.access = Access::ReadOnly);
        assert_eq!(read_only.identity().unwrap(), (9, 8), "nothing has to be written");
    }

    /// R24
    #[test]
    fn strict_is_never_user_0() {
        let strict = ExecOpts::default().with_limits(Limits { preset: Preset::Strict, ..Limits::default() });
        assert_eq!(plan(strict.clone(), (0, 0), 0o777).identity().unwrap(), NOBODY);
        assert!(plan(strict.clone(), (0, 0), 0o755).identity().is_err());
        assert_eq!(plan(strict, (7, 8), 0o755).identity().unwrap(), (7, 8));
    }
}
