//! The workspace and the mounts, checked against each other.

use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};

use exec_files::{Dir, OwnPlaces};

use super::first_sight::{Keeps, Writable};
use super::{Fence, PlannedMount, canonical, danger, git, invalid, os, reach};
use crate::needs::{BUILD_FILES, BUILD_IMAGE};
use crate::value::is_plain_absolute;
use crate::{Access, Change, Error, ExecOpts, MountSpec, Remedy, Result, WorkspaceMode};

/// Paths inside that belong to the cell itself.
const RESERVED: [&str; 11] =
    ["/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/run"];

/// The mounts of a run.
pub(super) struct Planned {
    /// The requested mounts.
    pub(super) mounts: Vec<PlannedMount>,
    /// The fences on top of them.
    pub(super) fences: Vec<Fence>,
}

pub(super) fn plan(workspace: &Path, opts: &ExecOpts, own: &OwnPlaces) -> Result<Planned> {
    let mut mounts = plan_workspace(workspace, opts, own)?;
    let access = access_to(&workspace.join(".git"), &mounts);
    let mut fences = git::plan(workspace, access, opts.dangerous_mounts, own)?;
    for file in kept_files(opts) {
        let kept = kept_file(&workspace.join(file), &mounts)?;
        add_new(&mut fences, kept.into_iter().map(Fence::Found));
    }
    for mount in &opts.mounts {
        let mount = plan_mount(mount, workspace, opts, own)?;
        refuse_overlap(&mounts, &mount)?;
        refuse_over_kept(&fences, &mount)?;
        mounts.push(mount);
    }
    for mount in mounts.iter().filter(|mount| mount.access == Access::ReadWrite && mount.source != workspace)
    {
        add_new(&mut fences, git::fences(&mount.source, &mount.target)?);
    }
    Ok(Planned { mounts, fences })
}

/// Adds fences, one per target: an engine refuses two mounts at one place.
fn add_new(fences: &mut Vec<Fence>, more: impl IntoIterator<Item = Fence>) {
    for fence in more {
        if fences.iter().all(|other| other.target() != fence.target()) {
            fences.push(fence);
        }
    }
}

/// The directories that a command can write: those given for writing, and the writable parts of a repository elsewhere.
pub(super) fn writable(workspace: &Path, given: &[PlannedMount], fences: &[Fence]) -> Vec<Writable> {
    let is_kept = |path: PathBuf| {
        fences.iter().any(|fence| {
            fence.source() == path && (fence.access() == Access::ReadOnly || path.ends_with(".git"))
        })
    };
    let of_given = given.iter().map(|mount| {
        let keeps = if is_kept(mount.source.join(".git")) { Keeps::ItsRepository } else { Keeps::Nothing };
        (mount, keeps)
    });
    let found = fences.iter().filter_map(Fence::found);
    let elsewhere = found.filter(|mount| !mount.source.starts_with(workspace)).map(|mount| {
        let keeps = if is_kept(mount.source.join("commondir")) { Keeps::ItsOrders } else { Keeps::Nothing };
        (mount, keeps)
    });
    of_given
        .chain(elsewhere)
        .filter(|(mount, _)| mount.access == Access::ReadWrite)
        .map(|(mount, keeps)| Writable { path: mount.source.clone(), id: mount.id, keeps })
        .collect()
}

fn builds(opts: &ExecOpts) -> bool {
    opts.image.as_deref() == Some(BUILD_IMAGE)
}

fn unusable(path: &Path, error: io::Error) -> Error {
    invalid(format!("`{}` can't be looked into", path.display()))
        .with_source(error)
        .with_remedy("see that you may enter it, and that no link has taken its place")
}

/// Files that no command may change: those the caller names, and those the next run's image would be built from.
fn kept_files(opts: &ExecOpts) -> impl Iterator<Item = &Path> {
    let built_from = BUILD_FILES.iter().filter(move |_| builds(opts)).map(Path::new);
    opts.kept_files.iter().map(PathBuf::as_path).chain(built_from)
}

fn plan_workspace(workspace: &Path, opts: &ExecOpts, own: &OwnPlaces) -> Result<Vec<PlannedMount>> {
    let at_own_path = |path: &Path, access| {
        Ok(PlannedMount { source: path.to_owned(), target: path.to_owned(), access, id: os::file_id(path)? })
    };
    let WorkspaceMode::ReadOnly { writable } = &opts.workspace.mode else {
        return Ok(vec![at_own_path(workspace, Access::ReadWrite)?]);
    };
    let mut mounts = vec![at_own_path(workspace, Access::ReadOnly)?];
    for path in writable {
        let full = writable_path(workspace, path, opts, own)?;
        mounts.push(at_own_path(&full, Access::ReadWrite)?);
    }
    Ok(mounts)
}

/// A writable path in a read-only workspace. It must not lead through a link, which a command may have made to open
/// another place, nor to files the host takes orders from, which even the caller may not open.
fn writable_path(workspace: &Path, path: &Path, opts: &ExecOpts, own: &OwnPlaces) -> Result<PathBuf> {
    let full = canonical(&workspace.join(path), "writable path")?;
    let refusal = |why: &str| {
        invalid(format!("the writable path `{}` {why}", path.display()))
            .with_context("workspace", workspace.display())
    };
    if !full.starts_with(workspace) || full == workspace {
        return Err(refusal("is not inside the workspace").with_remedy(
            Remedy::from("name a path below the workspace")
                .or(Change::give("mounts").with_purpose("for one elsewhere")),
        ));
    }
    if full != without_dots(&workspace.join(path)) {
        return Err(refusal(&format!("is reached through a link: it is `{}`", full.display()))
            .with_remedy("name the place itself, if that is what you mean"));
    }
    if git::takes_orders_from(workspace, &full, opts.dangerous_mounts, own)? {
        return Err(refusal("is a repository's own, and the host's git takes orders from there")
            .with_remedy(
                "leave it out; `.git` as a whole can be written, with what matters in it kept as it is",
            ));
    }
    if kept_files(opts).any(|kept| workspace.join(kept) == full) {
        return Err(
            refusal("is a configuration file, which no command may change").with_remedy("leave it out")
        );
    }
    Ok(full)
}

/// Resolves the dots of a path lexically, whatever its parts link to.
fn without_dots(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
        plain
    })
}

/// The access of the innermost mount that contains the path.
fn access_to(path: &Path, planned: &[PlannedMount]) -> Access {
    let holds = planned.iter().rev().find(|mount| path.starts_with(&mount.target));
    holds.map_or(Access::ReadOnly, |mount| mount.access)
}

/// Mounts over a file that would be writable otherwise, and over the directories above it, which could be moved away
/// and replaced. A file that is itself a link is left alone: it could be replaced whatever is mounted at its target,
/// and links are not followed when it is read.
fn kept_file(path: &Path, planned: &[PlannedMount]) -> Result<Vec<PlannedMount>> {
    let holds = planned.iter().rev().find(|mount| path.starts_with(&mount.target));
    let Some(holds) = holds.filter(|mount| mount.access == Access::ReadWrite) else { return Ok(Vec::new()) };
    let inside = path.strip_prefix(&holds.target).unwrap_or(path);
    if inside.as_os_str().is_empty() || !is_plain_absolute(path) {
        return Ok(Vec::new());
    }
    let dir = Dir::open(&holds.source).map_err(|error| unusable(&holds.source, error))?;
    let found = match dir.metadata(inside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.map_err(|error| unkept(path, error))?,
    };
    if !found.is_file() {
        return Ok(Vec::new());
    }
    if os::has_other_names(&found) {
        let why = "it has a second name (a hard link), by which a command could change it";
        return Err(unkept(path, io::Error::new(io::ErrorKind::InvalidInput, why)));
    }
    let at_own_path = |below: &Path, found: &Metadata, access| PlannedMount {
        source: holds.source.join(below),
        target: holds.target.join(below),
        access,
        id: os::id(found),
    };
    let mut mounts = Vec::new();
    for above in inside.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
        let found = dir.metadata(above).map_err(|error| unkept(path, error))?;
        mounts.push(at_own_path(above, &found, Access::ReadWrite));
    }
    mounts.reverse();
    mounts.push(at_own_path(inside, &found, Access::ReadOnly));
    Ok(mounts)
}

fn unkept(path: &Path, error: io::Error) -> Error {
    invalid(format!("`{}` can't be kept as it is, and no command may change it", path.display()))
        .with_source(error)
        .with_remedy("look at the directories it lies in: no link may be among them, and you must be able to enter them")
}

fn plan_mount(mount: &MountSpec, workspace: &Path, opts: &ExecOpts, own: &OwnPlaces) -> Result<PlannedMount> {
    let source = canonical(&mount.source, "mount source")?;
    refuse_led_out(&mount.source, &source, workspace)?;
    danger::check(&source, opts.dangerous_mounts, "mount source")?;
    reach::check(&source, own, opts.dangerous_mounts, "mount source")?;
    let target: PathBuf = mount.target.components().collect();
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

/// Refuses a source that is named in the workspace but is elsewhere, so a link leads there. A command may have made
/// the link so that its next run gets the target.
fn refuse_led_out(named: &Path, source: &Path, workspace: &Path) -> Result<()> {
    let named = std::path::absolute(named).map_or_else(|_| named.to_owned(), |path| without_dots(&path));
    let in_workspace = |path: &Path| path.canonicalize().is_ok_and(|path| path == workspace);
    if source.starts_with(workspace) || !named.ancestors().any(in_workspace) {
        return Ok(());
    }
    Err(invalid(format!(
        "the mount source `{}` is in the workspace, and a link leads from there to `{}`",
        named.display(),
        source.display()
    ))
    .with_remedy("name the place itself, if that is what you mean: a command may have made the link"))
}

/// Two mounts at or below one another inside hide each other's files; a source that is mounted both read-only and
/// writable is not read-only.
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

/// Files kept read-only, in the repository or by name, must not be covered, nor be writable at another place. A mount
/// of a directory above them, at its own path, is fine: the fences are on top of it.
fn refuse_over_kept(fences: &[Fence], new: &PlannedMount) -> Result<()> {
    for kept in fences {
        let lies_beneath = new.source == new.target && kept.target() != new.target;
        let covers = new.target.starts_with(kept.target());
        if covers || (kept.target().starts_with(&new.target) && !lies_beneath) {
            return Err(invalid(format!(
                "the mount target `{}` overlaps the workspace's repository `{}`",
                new.target.display(),
                kept.target().display()
            ))
            .with_remedy("leave it out: the repository of a worktree is mounted by itself"));
        }
        let nested = kept.source().starts_with(&new.source) || new.source.starts_with(kept.source());
        if nested && !lies_beneath && (new.access, kept.access()) == (Access::ReadWrite, Access::ReadOnly) {
            return Err(invalid(format!(
                "`{}` would be writable at `{}`, and the host takes orders from it",
                kept.source().display(),
                new.target.display()
            ))
            .with_remedy("mount it read-only, or at its own path"));
        }
    }
    Ok(())
}
