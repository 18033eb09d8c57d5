//! The workspace and the mounts, checked against each other.

use std::path::Path;

use super::{PlannedMount, canonical, danger, git, invalid, os};
use crate::value::is_plain_absolute;
use crate::{Access, ExecOpts, MountSpec, Result, WorkspaceMode};

/// Places inside that belong to the cell itself.
const RESERVED: [&str; 11] =
    ["/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/run"];

pub(super) fn plan(workspace: &Path, opts: &ExecOpts) -> Result<Vec<PlannedMount>> {
    let mut planned = plan_workspace(workspace, &opts.workspace.mode)?;
    let mut kept = git::plan(workspace, access_to(&workspace.join(".git"), &planned), opts.dangerous_mounts);
    for file in &opts.kept_files {
        for mount in kept_file(&workspace.join(file), &planned) {
            // An engine refuses two mounts at one place.
            if kept.iter().all(|other| other.target != mount.target) {
                kept.push(mount);
            }
        }
    }
    for mount in &opts.mounts {
        let mount = plan_mount(mount, opts)?;
        refuse_overlap(&planned, &mount)?;
        refuse_over_kept(&kept, &mount)?;
        planned.push(mount);
    }
    planned.extend(kept);
    Ok(planned)
}

fn plan_workspace(workspace: &Path, mode: &WorkspaceMode) -> Result<Vec<PlannedMount>> {
    let at_own_path = |path: &Path, access| {
        Ok(PlannedMount { source: path.to_owned(), target: path.to_owned(), access, id: os::file_id(path)? })
    };
    let WorkspaceMode::ReadOnly { writable } = mode else {
        return Ok(vec![at_own_path(workspace, Access::ReadWrite)?]);
    };
    let mut mounts = vec![at_own_path(workspace, Access::ReadOnly)?];
    for path in writable {
        let full = canonical(&workspace.join(path), "writable path")?;
        if !full.starts_with(workspace) || full == workspace {
            return Err(invalid(format!(
                "the writable path `{}` is not inside the workspace",
                path.display()
            ))
            .with_context("workspace", workspace.display())
            .with_remedy("name a path below the workspace, or use --mount for one elsewhere"));
        }
        mounts.push(at_own_path(&full, Access::ReadWrite)?);
    }
    Ok(mounts)
}

/// That of the innermost mount it lies in.
fn access_to(path: &Path, planned: &[PlannedMount]) -> Access {
    let holds = planned.iter().rev().find(|mount| path.starts_with(&mount.target));
    holds.map_or(Access::ReadOnly, |mount| mount.access)
}

/// Mounts over a file that could be written otherwise, and over the directories it lies in: else one of those could be moved
/// away and replaced. A link is left alone: it could be replaced whatever is mounted where it leads.
fn kept_file(path: &Path, planned: &[PlannedMount]) -> Vec<PlannedMount> {
    let holds = planned.iter().rev().find(|mount| path.starts_with(&mount.target));
    let Some(holds) = holds.filter(|mount| mount.access == Access::ReadWrite) else { return Vec::new() };
    let at_own_path = |path: &Path, access| {
        let found = std::fs::symlink_metadata(path).ok().filter(|found| !found.is_symlink())?;
        Some((
            found.is_file(),
            PlannedMount { source: path.into(), target: path.into(), access, id: os::id(&found) },
        ))
    };
    let Some((true, file)) = at_own_path(path, Access::ReadOnly).filter(|_| is_plain_absolute(path)) else {
        return Vec::new();
    };
    let directories = path.ancestors().skip(1).take_while(|above| *above != holds.target);
    let above: Option<Vec<_>> = directories.map(|above| at_own_path(above, Access::ReadWrite)).collect();
    let mut mounts: Vec<_> = above.unwrap_or_default().into_iter().map(|(_, mount)| mount).collect();
    mounts.reverse();
    mounts.push(file);
    mounts
}

fn plan_mount(mount: &MountSpec, opts: &ExecOpts) -> Result<PlannedMount> {
    let source = canonical(&mount.source, "mount source")?;
    danger::check(&source, opts.dangerous_mounts, "mount source")?;
    let target: std::path::PathBuf = mount.target.components().collect();
    if !is_plain_absolute(&target) {
        return Err(invalid(format!(
            "the mount target `{}` is not an absolute path without `..`",
            target.display()
        ))
        .with_remedy("write it in full, like `/data`"));
    }
    let covers = |place: &str| Path::new(place).starts_with(&target);
    let within = |place: &str| ["/proc", "/sys", "/dev"].contains(&place) && target.starts_with(place);
    if let Some(place) = RESERVED.iter().find(|place| covers(place) || within(place)) {
        return Err(invalid(format!(
            "the mount target `{}` would cover the cell's own `{place}`",
            target.display()
        ))
        .with_remedy("choose a place like `/data` or `/mnt/data`"));
    }
    Ok(PlannedMount { id: os::file_id(&source)?, source, target, access: mount.access })
}

/// Two mounts at or below one another inside hide each other's files; one source given read-only and writable
/// at once is not read-only.
fn refuse_overlap(planned: &[PlannedMount], new: &PlannedMount) -> Result<()> {
    let nested = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
    for other in planned {
        if nested(&other.target, &new.target) {
            return Err(invalid(format!(
                "the mount targets `{}` and `{}` overlap",
                other.target.display(),
                new.target.display()
            ))
            .with_remedy("give each mount a place of its own, outside the workspace"));
        }
        if other.access != new.access && nested(&other.source, &new.source) {
            return Err(invalid(format!(
                "`{}` and `{}` overlap on the host but one is writable and the other is not",
                other.source.display(),
                new.source.display()
            ))
            .with_remedy("give both the same access, or mount separate directories"));
        }
    }
    Ok(())
}

/// What is kept read-only, in the repository or by name, must not be covered, nor be writable at another place. A mount
/// of what it lies in, at its own path, is fine: these mounts lie over it.
fn refuse_over_kept(all_kept: &[PlannedMount], new: &PlannedMount) -> Result<()> {
    for kept in all_kept {
        let lies_beneath = new.source == new.target && kept.target != new.target;
        let covers = new.target.starts_with(&kept.target);
        if covers || (kept.target.starts_with(&new.target) && !lies_beneath) {
            return Err(invalid(format!(
                "the mount target `{}` overlaps the workspace's repository `{}`",
                new.target.display(),
                kept.target.display()
            ))
            .with_remedy("leave it out: the repository of a worktree is mounted by itself"));
        }
        let nested = kept.source.starts_with(&new.source) || new.source.starts_with(&kept.source);
        if nested && !lies_beneath && (new.access, kept.access) == (Access::ReadWrite, Access::ReadOnly) {
            return Err(invalid(format!(
                "`{}` would be writable at `{}`, and the host takes orders from it",
                kept.source.display(),
                new.target.display()
            ))
            .with_remedy("mount it read-only, or at its own path"));
        }
    }
    Ok(())
}
