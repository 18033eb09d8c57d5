//! Turns a plan into the container it needs. Pure: the engine, the image and the host were inspected before.

pub(crate) mod body;
pub(crate) mod builder;
pub(crate) mod isolation;

use std::path::{Path, PathBuf};

use exec_cell::CellLimits;
use exec_core::{
    Access, ByteSize, Error, ErrorKind, FileId, Gpus, Network, Plan, PlannedMount, Remedy, Result,
};
use exec_host::{HostView, SystemEntry};

use crate::engine::ImageFacts;
use crate::engine::profile::EngineProfile;

/// Home directory in images other than the host image.
pub(crate) const IMAGE_HOME: &str = "/home/agent";

/// The host's files of user and group names.
const USER_NAMES: [&str; 2] = ["/etc/passwd", "/etc/group"];

/// Everything that distinguishes one container from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ContainerSpec {
    /// The image's name for display, with its digest if it has one.
    pub(crate) image_name: String,
    pub(crate) image: String,
    /// In the container's ids.
    pub(crate) user: (u32, u32),
    pub(crate) mounts: Vec<Mount>,
    /// Visible files of the host that must not be readable.
    pub(crate) masked: Vec<String>,
    pub(crate) network: Network,
    /// Its image may lack `/etc/hosts`.
    pub(crate) lacks_hosts: bool,
    /// Its image has a health check, which must not run.
    pub(crate) checks_health: bool,
    pub(crate) limits: CellLimits,
    pub(crate) shm_size: u64,
    pub(crate) gpus: Option<Gpus>,
}

/// One mount. Paths are strings, as in the engine's API.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Mount {
    Bind {
        source: String,
        target: String,
        access: Access,
        expect: Option<FileId>,
    },
    /// Has an owner, because some runtimes give it the mode of the image's directory.
    Tmpfs {
        target: String,
        size: u64,
        mode: u32,
        owner: (u32, u32),
    },
}

/// The files a container runs on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Base<'a> {
    /// The host's own programs, over an empty image.
    Host { image: &'a ImageFacts, view: &'a HostView },
    /// A complete image.
    Image { name: &'a str, image: &'a ImageFacts },
}

/// The container a planned run needs.
pub(crate) fn spec(plan: &Plan, base: Base<'_>, profile: &EngineProfile) -> Result<ContainerSpec> {
    let user = profile.identity(plan)?;
    refuse_the_monitors_place(plan, profile)?;
    let given: Vec<&Path> = plan.mounts.iter().map(|mount| mount.target.as_path()).collect();
    let has_var_tmp = profile.dialect.adds_var_tmp || matches!(base, Base::Host { .. });
    let var_tmp = has_var_tmp.then_some(("/var/tmp", plan.limits.tmp_size));
    let own = [("/tmp", plan.limits.tmp_size), ("/run", plan.limits.run_size)];
    let mut mounts: Vec<Mount> = own
        .into_iter()
        .chain(var_tmp)
        .filter(|(path, _)| !given.contains(&Path::new(path)))
        .map(|(path, size)| tmpfs(path, size, 0o1777, user))
        .collect();
    let mut masked = Vec::new();
    let home = |path: &str| tmpfs(path, plan.limits.tmp_size, 0o700, user);
    let (image_name, image) = match base {
        Base::Host { image, view } => {
            mounts.extend(system_mounts(view)?);
            if profile.dialect.writes_user_names && shows(view, "/etc") {
                mounts.extend(USER_NAMES.map(|path| read_only_text(path.to_owned())));
            }
            if let Some(path) = view.private_home(&given) {
                mounts.push(home(text(path)?));
            }
            for path in view.toolchains_beside(&given) {
                mounts.push(read_only(path)?);
            }
            for path in view.secrets_beside(&given).chain(view.credentials_beside(&given)) {
                masked.push(text(path)?.to_owned());
            }
            ("host".to_owned(), image)
        }
        Base::Image { name, image } => {
            mounts.push(home(IMAGE_HOME));
            // Otherwise the engine would create a writable volume there, without a size limit.
            let volumes = image.volumes.iter().filter(|volume| !given.contains(&Path::new(volume)));
            mounts.extend(volumes.map(|volume| tmpfs(volume, plan.limits.tmp_size, 0o1777, user)));
            (image.digest.clone().unwrap_or_else(|| name.to_owned()), image)
        }
    };
    for mount in &plan.mounts {
        mounts.push(planned(mount, profile)?);
    }
    refuse_reserved(&mounts, &masked, profile)?;
    Ok(ContainerSpec {
        image_name,
        image: image.id.clone(),
        user,
        mounts,
        masked,
        network: plan.network.unwrap_or(Network::None),
        lacks_hosts: matches!(base, Base::Image { .. }),
        checks_health: image.checks_health,
        limits: CellLimits::of(plan),
        shm_size: plan.limits.tmp_size.get(),
        gpus: plan.gpus,
    })
}

impl ContainerSpec {
    /// The paths a container may write to.
    pub(crate) fn writable(&self) -> impl Iterator<Item = &str> {
        self.mounts.iter().filter_map(|mount| match mount {
            Mount::Bind { target, access: Access::ReadWrite, .. } | Mount::Tmpfs { target, .. } => {
                Some(target.as_str())
            }
            Mount::Bind { .. } => None,
        })
    }
}

fn system_mounts(view: &HostView) -> Result<Vec<Mount>> {
    let mounts = view.system.iter().filter_map(|entry| match entry {
        SystemEntry::Directory(path) => Some(read_only(path)),
        // Every program starts by following such links, and an engine may serve the image's files from a process of
        // its own.
        SystemEntry::Link { path, directory: Some(directory), .. } => Some(read_only_at(directory, path)),
        // Part of the image.
        SystemEntry::Link { directory: None, .. } => None,
    });
    mounts.collect()
}

fn shows(view: &HostView, place: &str) -> bool {
    view.system.iter().any(|entry| matches!(entry, SystemEntry::Directory(path) if path == Path::new(place)))
}

fn read_only(path: &Path) -> Result<Mount> {
    text(path).map(|path| read_only_text(path.to_owned()))
}

fn read_only_at(source: &Path, target: &Path) -> Result<Mount> {
    let (source, target) = (text(source)?.to_owned(), text(target)?.to_owned());
    Ok(Mount::Bind { source, target, access: Access::ReadOnly, expect: None })
}

fn read_only_text(path: String) -> Mount {
    Mount::Bind { source: path.clone(), target: path, access: Access::ReadOnly, expect: None }
}

/// Refuses paths with characters that the engine parses: they could mount anything, in any way.
fn refuse_reserved(mounts: &[Mount], masked: &[String], profile: &EngineProfile) -> Result<()> {
    let paths = mounts.iter().flat_map(|mount| match mount {
        Mount::Bind { source, target, .. } => vec![source, target],
        Mount::Tmpfs { target, .. } => vec![target],
    });
    match paths.chain(masked).find(|path| path.contains(profile.dialect.reserved)) {
        None => Ok(()),
        Some(path) => Err(Error::new(
            ErrorKind::InvalidInput,
            "start",
            format!(
                "the path `{}` can't be passed to this engine: it has a comma, a colon or a quote in it",
                path.escape_debug()
            ),
        )
        .with_remedy(Remedy::from("rename it").or(Remedy::another_sandbox()))),
    }
}

/// Refuses a command write access where a container's monitor creates files: it would follow links there as the
/// engine.
fn refuse_the_monitors_place(plan: &Plan, profile: &EngineProfile) -> Result<()> {
    let Some(place) = &profile.monitors_in else { return Ok(()) };
    let writable = plan.mounts.iter().filter(|mount| mount.access == Access::ReadWrite);
    match writable.map(|mount| &mount.source).find(|source| place.starts_with(source)) {
        None => Ok(()),
        Some(source) => Err(Error::new(
            ErrorKind::Unavailable,
            "start",
            format!(
                "the engine was started in `{}`, below `{}`, which the command can write: it creates files there by name",
                place.display(),
                source.display()
            ),
        )
        .with_remedy(Remedy::engine("start the engine in another directory, as with `cd / && podman system service`"))),
    }
}

fn planned(mount: &PlannedMount, profile: &EngineProfile) -> Result<Mount> {
    Ok(Mount::Bind {
        source: text(&mount.source)?.to_owned(),
        target: text(&mount.target)?.to_owned(),
        access: mount.access,
        expect: profile.same_kernel.then_some(mount.id),
    })
}

fn tmpfs(target: &str, size: ByteSize, mode: u32, owner: (u32, u32)) -> Mount {
    Mount::Tmpfs { target: target.to_owned(), size: size.get(), mode, owner }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        let shown = PathBuf::from(path);
        Error::new(
            ErrorKind::InvalidInput,
            "start",
            format!("the path `{}` can't be passed to a container engine: it is not UTF-8", shown.display()),
        )
        .with_remedy(Remedy::from("rename it").or(Remedy::another_sandbox()))
    })
}
