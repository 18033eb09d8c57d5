//! A running cell, as the engine describes it.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use bollard::models::HostConfig;
use exec_core::{Claim, Cmd, ErrorKind, ExecOpts, Executor, Limits, MountSpec, Preset};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::support::{appeared, ensure_nothing_is_left, executor, the_cell_on, workspace};

const OTHER_USER: u32 = 12_345;

/// Where PID 1 finds its FIFO channel past the engine.
const FIFO_DIRECTORY: &str = "/.agentctl/lane";

/// R20, R40, R50: the output of `docker inspect`.
pub(crate) async fn an_ordinary_users_cell_as_the_engine_sees_it() -> Result<()> {
    let dir = workspace(OTHER_USER)?;
    let executor = executor(0).await?;
    let run = executor.start(&Cmd::new("sleep").arg("60"), &ExecOpts::in_workspace(dir.path())).await?;
    let cell = the_cell_on(dir.path()).await?;
    let config = cell.config.context("no config")?;
    ensure!(config.user.as_deref() == Some("12345:12345"), "user {:?}", config.user);
    let labels = config.labels.unwrap_or_default();
    for label in ["owner", "owner.pid", "owner.start", "owner.boot", "cell"] {
        ensure!(labels.contains_key(&format!("dev.agentctl.{label}")), "no {label} in {labels:?}");
    }
    check_host_config(&cell.host_config.context("no host config")?)?;
    let mounts = cell.mounts.unwrap_or_default();
    for mount in &mounts {
        let (source, target) = (mount.source.as_deref().unwrap_or_default(), mount.destination.as_deref());
        match std::fs::metadata(source) {
            Err(_) if target == Some(FIFO_DIRECTORY) => {}
            found => ensure!(!found.context("gone")?.file_type().is_socket(), "{source} is a socket"),
        }
    }
    run.control().kill();
    run.wait().await?;
    ensure_nothing_is_left(dir.path()).await
}

fn check_host_config(config: &HostConfig) -> Result<()> {
    ensure!(config.cap_drop.as_deref() == Some(&["ALL".to_owned()]), "{:?}", config.cap_drop);
    ensure!(config.cap_add.as_deref().unwrap_or_default().is_empty(), "{:?}", config.cap_add);
    let security = config.security_opt.clone().unwrap_or_default();
    ensure!(security.iter().any(|option| option.starts_with("no-new-privileges")), "{security:?}");
    ensure!(!security.iter().any(|option| option.contains("unconfined")), "{security:?}");
    ensure!(config.privileged == Some(false) && config.readonly_rootfs == Some(true), "not hardened");
    ensure!(config.network_mode.as_deref() == Some("none"), "{:?}", config.network_mode);
    ensure!(
        config.memory == Some(2 << 30) && config.memory_swap == config.memory,
        "{:?}",
        config.memory_swap
    );
    ensure!(config.pids_limit == Some(1025), "{:?}", config.pids_limit);
    ensure!(config.nano_cpus == Some(2_000_000_000), "{:?}", config.nano_cpus);
    ensure!(config.auto_remove == Some(true), "it would stay");
    ensure!(config.ipc_mode.as_deref() == Some("private"), "{:?}", config.ipc_mode);
    let log = config.log_config.as_ref().and_then(|log| log.typ.as_deref());
    ensure!(log == Some("none"), "{log:?}");
    Ok(())
}

/// A12: the cell has a FIFO channel past the engine, and no command finds it.
pub(crate) async fn the_fifo_channel_is_closed_before_a_command_runs() -> Result<()> {
    let dir = workspace(OTHER_USER)?;
    let executor = executor(0).await?;
    let look = format!(
        "grep -c ' {FIFO_DIRECTORY} ' /proc/self/mountinfo; ls -A {FIFO_DIRECTORY}; find / -xdev -type p"
    );
    let result = executor.run(&Cmd::shell(look), &ExecOpts::in_workspace(dir.path())).await?;
    ensure!(result.stdout.text() == "1\n", "{}", result.stdout.text());
    ensure_nothing_is_left(dir.path()).await
}

/// R24: the report says the same.
pub(crate) async fn roots_own_workspace_runs_as_user_0_without_capabilities() -> Result<()> {
    let dir = workspace(0)?;
    let script = Cmd::shell("id -u; touch made; grep CapBnd /proc/self/status");
    let result = executor(0).await?.run(&script, &ExecOpts::in_workspace(dir.path())).await?;
    ensure!(result.stdout.text() == "0\nCapBnd:\t0000000000000000\n", "{}", result.stdout.text());
    let isolation = &result.outcome.isolation;
    ensure!(isolation.uid == 0 && isolation.holds(Claim::NoPrivileges), "{isolation:?}");
    Ok(())
}

/// R24: the strict preset never runs as user 0, and names a remedy where that can't work.
pub(crate) async fn strict_runs_as_an_unprivileged_user() -> Result<()> {
    let executor = executor(0).await?;
    let limits = Limits { preset: Preset::Strict, ..Limits::default() };
    let dir = workspace(0)?;
    let opts = ExecOpts::in_workspace(dir.path()).with_limits(limits);
    let error = executor.run(&Cmd::new("true"), &opts).await.err().context("it ran")?;
    ensure!(error.kind() == ErrorKind::InvalidInput, "{error}");
    ensure!(
        error.remedy().is_some_and(|remedy| remedy.to_string().contains("option `user`")),
        "{:?}",
        error.remedy()
    );
    exec_testkit::give_away(dir.path(), OTHER_USER, OTHER_USER)?;
    let result = executor.run(&Cmd::new("id").arg("-u"), &opts).await?;
    ensure!(result.stdout.text() == "12345\n", "{}", result.stdout.text());
    Ok(())
}

/// A4: the mounted file is the one that was checked. The swap happens once the container exists, so after the
/// check; the timing decides whether it also happens before the mount, and then the run is refused.
pub(crate) async fn a_swapped_mount_is_refused() -> Result<()> {
    let (dir, aside) = (workspace(OTHER_USER)?, workspace(OTHER_USER)?);
    let (source, secret) = (aside.path().join("source"), aside.path().join("secret"));
    for (place, name) in [(&source, "meant"), (&secret, "canary")] {
        std::fs::create_dir(place)?;
        std::fs::write(place.join(name), "")?;
    }
    let executor = executor(0).await?;
    let opts = ExecOpts::in_workspace(dir.path()).with_mount(MountSpec::read_only(&source).at("/given"));
    let mut refused = 0;
    for _ in 0..10 {
        let ls = Cmd::new("ls").arg("/given");
        let (ended, swapped) = tokio::join!(executor.run(&ls, &opts), async {
            appeared(dir.path()).await?;
            exchange(&source, &secret)
        });
        swapped?;
        match ended {
            Ok(result) => ensure!(result.stdout.text() == "meant\n", "{}", result.stdout.text()),
            Err(error) => {
                refused += 1;
                ensure!(error.kind() == ErrorKind::InvalidInput, "{:?}: {error}", error.kind());
                ensure!(error.to_string().contains("shows something else at `/given`"), "{error}");
            }
        }
        exchange(&source, &secret)?;
        ensure_nothing_is_left(dir.path()).await?;
    }
    ensure!(refused > 0, "no swap came between check and mount");
    Ok(())
}

/// Exchanges their names atomically.
fn exchange(one: &Path, other: &Path) -> Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}
