//! A running cell, as the engine describes it.

use std::os::unix::fs::{FileTypeExt, symlink};

use anyhow::{Context, Result, ensure};
use bollard::models::HostConfig;
use exec_core::{Claim, Cmd, ErrorKind, ExecOpts, Executor, Limits, MountSpec, Preset};

use crate::support::{ensure_nothing_is_left, executor, the_cell_on, workspace};

const SOMEBODY: u32 = 12_345;

/// Where PID 1 finds its way past the engine.
const LANE: &str = "/.agentctl/lane";

/// R20, R40, R50: what `docker inspect` shows.
pub(crate) async fn an_ordinary_users_cell_as_the_engine_sees_it() -> Result<()> {
    let dir = workspace(SOMEBODY)?;
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
            Err(_) if target == Some(LANE) => {}
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

/// A12: there is a way past the engine, and no command finds it.
pub(crate) async fn the_lane_is_closed_before_a_command_runs() -> Result<()> {
    let dir = workspace(SOMEBODY)?;
    let executor = executor(0).await?;
    let look = format!("grep -c ' {LANE} ' /proc/self/mountinfo; ls -A {LANE}; find / -xdev -type p");
    let result = executor.run(&Cmd::shell(look), &ExecOpts::in_workspace(dir.path())).await?;
    ensure!(result.stdout.text() == "1\n", "{}", result.stdout.text());
    ensure_nothing_is_left(dir.path()).await
}

/// R24: and the report says so.
pub(crate) async fn roots_own_workspace_runs_as_user_0_without_capabilities() -> Result<()> {
    let dir = workspace(0)?;
    let script = Cmd::shell("id -u; touch made; grep CapBnd /proc/self/status");
    let result = executor(0).await?.run(&script, &ExecOpts::in_workspace(dir.path())).await?;
    ensure!(result.stdout.text() == "0\nCapBnd:\t0000000000000000\n", "{}", result.stdout.text());
    let isolation = &result.outcome.isolation;
    ensure!(isolation.uid == 0 && isolation.holds(Claim::NoPrivileges), "{isolation:?}");
    Ok(())
}

/// R24: the strict preset never gives user 0, and says what to do where that can't work.
pub(crate) async fn strict_is_nobody() -> Result<()> {
    let executor = executor(0).await?;
    let limits = Limits { preset: Preset::Strict, ..Limits::default() };
    let dir = workspace(0)?;
    let opts = ExecOpts::in_workspace(dir.path()).with_limits(limits);
    let error = executor.run(&Cmd::new("true"), &opts).await.err().context("it ran")?;
    ensure!(error.kind() == ErrorKind::InvalidInput, "{error}");
    ensure!(error.remedy().is_some_and(|remedy| remedy.contains("--user")), "{:?}", error.remedy());
    std::os::unix::fs::chown(dir.path(), Some(SOMEBODY), Some(SOMEBODY))?;
    let result = executor.run(&Cmd::new("id").arg("-u"), &opts).await?;
    ensure!(result.stdout.text() == "12345\n", "{}", result.stdout.text());
    Ok(())
}

/// A4: what is mounted is what was checked. The swap is made between the two by giving a warm cell's specification
/// another directory under the same name.
pub(crate) async fn a_swapped_mount_is_refused() -> Result<()> {
    let dir = workspace(SOMEBODY)?;
    let (source, secret) = (dir.path().join("source"), dir.path().join("secret"));
    std::fs::create_dir(&source)?;
    std::fs::create_dir(&secret)?;
    let executor = executor(0).await?;
    let opts = ExecOpts::in_workspace(workspace(SOMEBODY)?.path())
        .with_mount(MountSpec::read_only(&source).at("/given"));
    // Swapped back and forth all the time: whatever is seen inside is what was meant, or nothing is.
    std::fs::write(secret.join("canary"), "secret")?;
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let (stop, source, secret, aside) =
            (stop.clone(), source.clone(), secret.clone(), dir.path().join("aside"));
        move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let swapped = std::fs::rename(&source, &aside).and_then(|()| symlink(&secret, &source));
                std::thread::sleep(std::time::Duration::from_millis(3));
                let _ = std::fs::remove_file(&source).and_then(|()| std::fs::rename(&aside, &source));
                if swapped.is_err() {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
        }
    });
    let (mut ran, mut refused) = (0, 0);
    for _ in 0..20 {
        match executor.run(&Cmd::new("ls").arg("/given"), &opts).await {
            Ok(result) => {
                // Meant at that moment may be either: a plan made while the link stood there means the directory behind it.
                ran += 1;
                ensure!(result.success(), "{}", result.stderr.text());
            }
            Err(error) => {
                refused += 1;
                ensure!(
                    [ErrorKind::InvalidInput, ErrorKind::Engine, ErrorKind::CellDied].contains(&error.kind()),
                    "{error}"
                );
            }
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapping.join().ok();
    ensure!(refused > 0, "the swap was never noticed in {ran} runs");
    Ok(())
}
