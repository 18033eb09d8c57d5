//! Translates a container's specification into the engine's create request. Pure.
//!
//! Everything that makes a container a cell is set here, regardless of the image: the user, the privileges, the
//! writable paths, and the removal when it exits.

use std::collections::HashMap;

use bollard::models::{
    ContainerCreateBody, DeviceRequest, HealthConfig, HostConfig, HostConfigCgroupnsModeEnum,
    HostConfigLogConfig, Mount as ApiMount, MountBindOptions, MountType, MountVolumeOptions,
    ResourcesUlimits,
};
use exec_core::{Access, Gpus, Network};
use exec_wire::{FIFO_DIRECTORY, MASKED_PROC, MASKED_PROC_FOR_ROOT};

use crate::engine::dialect::{Masks, TmpfsOwner};
use crate::engine::profile::EngineProfile;
use crate::host::facts::Ulimits;
use crate::init::{INIT_DIRECTORY, INIT_PATH, Placement};
use crate::spec::{ContainerSpec, Mount};

/// Paths below `/sys` that reveal or allow too much. Together with the kernel's files below `/proc` they replace
/// the engine's own list.
const MASKED_SYS: [&str; 2] = ["/sys/devices/virtual/powercap", "/sys/firmware"];

/// Processes of a container besides the command's: PID 1.
const OWN_PROCESSES: i64 = 1;

/// The create request of a container; `fifo_channel` is a directory on this host.
pub(crate) fn body(
    spec: &ContainerSpec,
    placement: &Placement,
    fifo_channel: Option<&str>,
    profile: &EngineProfile,
    labels: HashMap<String, String>,
) -> ContainerCreateBody {
    let mut host = host_config(spec, profile);
    let (init, hosts) = match placement {
        Placement::Bind { source, hosts } => {
            (bind(source, INIT_PATH, Access::ReadOnly, profile), Some(hosts.as_str()))
        }
        Placement::Volume { name } => (init_volume(name, Access::ReadOnly), None),
    };
    let skips_network = skips_network(spec, hosts);
    let hosts = hosts.filter(|_| spec.lacks_hosts && skips_network);
    let hosts = hosts.map(|hosts| bind(hosts, "/etc/hosts", Access::ReadOnly, profile));
    let fifo_channel =
        fifo_channel.map(|directory| bind(directory, FIFO_DIRECTORY, Access::ReadOnly, profile));
    host.mounts.get_or_insert_default().extend([init].into_iter().chain(hosts).chain(fifo_channel));
    relabel(&mut host, spec, profile);
    let (uid, gid) = spec.user;
    ContainerCreateBody {
        image: Some(spec.image.clone()),
        entrypoint: Some(vec![INIT_PATH.to_owned()]),
        cmd: Some(vec!["container".to_owned()]),
        working_dir: Some("/".to_owned()),
        hostname: (spec.network != Network::Host).then(|| "cell".to_owned()),
        user: Some(format!("{uid}:{gid}")),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        open_stdin: Some(true),
        // Standard input closes with the connection, and then PID 1 kills everything.
        stdin_once: Some(true),
        tty: Some(false),
        network_disabled: skips_network.then_some(true),
        healthcheck: spec.checks_health.then(no_health_check),
        stop_signal: Some("SIGKILL".to_owned()),
        labels: Some(labels),
        host_config: Some(host),
        ..ContainerCreateBody::default()
    }
}

/// Sent only if the image has a check: some engines treat `NONE` as a check too.
fn no_health_check() -> HealthConfig {
    HealthConfig { test: Some(vec!["NONE".to_owned()]), ..HealthConfig::default() }
}

/// The resources and restrictions of a container.
fn host_config(spec: &ContainerSpec, profile: &EngineProfile) -> HostConfig {
    let memory = spec.limits.memory.map(|bytes| bytes as i64);
    HostConfig {
        auto_remove: Some(true),
        init: Some(false),
        readonly_rootfs: Some(true),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(security(spec, profile)),
        network_mode: Some(spec.network.to_string()),
        ipc_mode: Some("private".to_owned()),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        // Files created inside belong to the caller.
        userns_mode: profile.user_namespace(spec.user).map(str::to_owned),
        memory,
        memory_swap: memory,
        pids_limit: spec.limits.pids.map(|pids| pids as i64 + OWN_PROCESSES),
        nano_cpus: spec.limits.cpu_milli.map(|milli| milli as i64 * 1_000_000),
        shm_size: Some(spec.shm_size as i64),
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        mounts: Some(binds(spec, profile)),
        tmpfs: Some(tmpfs(spec, profile)),
        masked_paths: (profile.dialect.masks == Masks::List).then(|| masked(spec).collect()),
        ulimits: profile.ulimits.map(ulimits),
        privileged: Some(false),
        device_requests: spec.gpus.map(|gpus| vec![graphics(gpus)]),
        publish_all_ports: Some(false),
        ..HostConfig::default()
    }
}

/// Where `SELinux` confines containers, mounts must be labelled for them or could not be read. Podman supports that
/// only in the `binds` list, not in `mounts`.
fn relabel(host: &mut HostConfig, spec: &ContainerSpec, profile: &EngineProfile) {
    if !(profile.guards_labels && profile.dialect.relabels && spec.lacks_hosts) {
        return;
    }
    let (binds, others): (Vec<_>, Vec<_>) = host
        .mounts
        .take()
        .unwrap_or_default()
        .into_iter()
        .partition(|mount| mount.typ == Some(MountType::BIND));
    host.mounts = Some(others);
    host.binds = Some(binds.into_iter().map(labelled).collect());
}

fn labelled(mount: ApiMount) -> String {
    let access = if mount.read_only == Some(true) { "ro" } else { "rw" };
    let is_alone = mount.bind_options.is_some_and(|options| options.non_recursive == Some(true));
    let depth = if is_alone { "bind" } else { "rbind" };
    let [source, target] = [mount.source, mount.target].map(Option::unwrap_or_default);
    format!("{source}:{target}:{access},z,rprivate,{depth}")
}

fn masked(spec: &ContainerSpec) -> impl Iterator<Item = String> {
    let for_root: &[&str] = if spec.user.0 == 0 { &MASKED_PROC_FOR_ROOT } else { &[] };
    let proc = MASKED_PROC.iter().chain(for_root).map(|name| format!("/proc/{name}"));
    proc.chain(MASKED_SYS.map(str::to_owned)).chain(spec.masked.iter().cloned())
}

fn security(spec: &ContainerSpec, profile: &EngineProfile) -> Vec<String> {
    let mut options = vec!["no-new-privileges:true".to_owned()];
    options.extend(profile.syscall_filter.iter().map(|path| format!("seccomp={path}")));
    if profile.guards_labels && !spec.lacks_hosts {
        // Labelling the machine's own programs for containers would break them for every other program.
        options.push("label=disable".to_owned());
    }
    if profile.dialect.masks == Masks::SecurityOption {
        options.push(format!("mask={}", masked(spec).collect::<Vec<_>>().join(":")));
    }
    options
}

fn ulimits(Ulimits { open_files, processes }: Ulimits) -> Vec<ResourcesUlimits> {
    [("nofile", open_files), ("nproc", processes)].map(|(name, most)| ulimit(name, most as i64)).into()
}

fn ulimit(name: &str, most: i64) -> ResourcesUlimits {
    ResourcesUlimits { name: Some(name.to_owned()), soft: Some(most), hard: Some(most) }
}

fn binds(spec: &ContainerSpec, profile: &EngineProfile) -> Vec<ApiMount> {
    let binds = spec.mounts.iter().filter_map(|mount| match mount {
        Mount::Bind { source, target, access, .. } => Some(bind(source, target, *access, profile)),
        Mount::Tmpfs { .. } => None,
    });
    binds.collect()
}

/// Whether the engine may skip the network setup, which takes longer than everything else: without a network, the
/// runtime creates the namespace and its loopback. The engine then writes no `/etc/hosts`, so we mount one if the
/// image may lack it.
fn skips_network(spec: &ContainerSpec, hosts: Option<&str>) -> bool {
    spec.network == Network::None && (!spec.lacks_hosts || hosts.is_some())
}

/// The host configuration of the container that fills the volume with PID 1.
pub(crate) fn volume_mount(name: &str) -> HostConfig {
    HostConfig {
        mounts: Some(vec![init_volume(name, Access::ReadWrite)]),
        network_mode: Some(Network::None.to_string()),
        ..HostConfig::default()
    }
}

fn init_volume(name: &str, access: Access) -> ApiMount {
    ApiMount {
        typ: Some(MountType::VOLUME),
        source: Some(name.to_owned()),
        target: Some(INIT_DIRECTORY.to_owned()),
        read_only: Some(access == Access::ReadOnly),
        volume_options: Some(MountVolumeOptions { no_copy: Some(true), ..MountVolumeOptions::default() }),
        ..ApiMount::default()
    }
}

fn bind(source: &str, target: &str, access: Access, profile: &EngineProfile) -> ApiMount {
    let read_only = access == Access::ReadOnly;
    let non_recursive = (read_only && profile.hides_submounts).then_some(true);
    ApiMount {
        typ: Some(MountType::BIND),
        source: Some(source.to_owned()),
        target: Some(target.to_owned()),
        read_only: Some(read_only),
        bind_options: non_recursive
            .map(|_| MountBindOptions { non_recursive, ..MountBindOptions::default() }),
        ..ApiMount::default()
    }
}

/// Requests GPUs as the `docker` CLI does.
fn graphics(gpus: Gpus) -> DeviceRequest {
    DeviceRequest {
        count: Some(match gpus {
            Gpus::All => -1,
            Gpus::Count(count) => count.into(),
        }),
        capabilities: Some(vec![vec!["gpu".to_owned()]]),
        ..DeviceRequest::default()
    }
}

fn tmpfs(spec: &ContainerSpec, profile: &EngineProfile) -> HashMap<String, String> {
    let options = spec.mounts.iter().filter_map(|mount| match mount {
        Mount::Tmpfs { target, size, mode, owner: (uid, gid) } => {
            let owner = match profile.dialect.tmpfs_owner {
                TmpfsOwner::Named => format!("uid={uid},gid={gid}"),
                // Empty at first, whatever the image has at this path.
                TmpfsOwner::User => "notmpcopyup,U".to_owned(),
            };
            // Builds run programs they have just created.
            let options = format!("rw,exec,nosuid,nodev,size={size},mode={mode:o},{owner}");
            Some((target.clone(), options))
        }
        Mount::Bind { .. } => None,
    });
    options.collect()
}

#[cfg(test)]
mod tests;
