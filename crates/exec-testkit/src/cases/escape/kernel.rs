//! The kernel's own files, devices and mounts.

use std::fs;
use std::os::unix::fs::MetadataExt;

use anyhow::{Result, bail, ensure};

use crate::case::{Case, Skip, case};
use crate::outside::is_root;
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(device_nodes_cannot_be_made, "A6", NoPrivileges),
    case!(nothing_can_be_mounted, "A8", NoPrivileges),
    case!(the_root_cannot_be_remounted, "A8", NoPrivileges),
    case!(kernel_settings_are_read_only, "A9", ReadOnlySystem),
    case!(kernel_memory_and_keys_are_masked, "A10", HidesFiles),
    case!(root_reads_no_files_reserved_for_root, "A10 A49", HidesFiles),
    case!(disks_are_hidden, "A10", HidesFiles),
];

/// A6
async fn device_nodes_cannot_be_made(ctx: Ctx) -> Result<()> {
    check::refused_inside_only(&ctx, &["syscall", "mknod"], &["EPERM"]).await
}

/// A8
async fn nothing_can_be_mounted(ctx: Ctx) -> Result<()> {
    check::refused_inside_only(&ctx, &["syscall", "mount-tmpfs"], &["EPERM"]).await
}

/// A8
async fn the_root_cannot_be_remounted(ctx: Ctx) -> Result<()> {
    check::refused_inside_only(&ctx, &["syscall", "remount-root"], &["EPERM"]).await
}

/// A9: no file that changes the host's kernel, or makes it start a program.
async fn kernel_settings_are_read_only(ctx: Ctx) -> Result<()> {
    let refusals = ["EROFS", "EACCES", "EPERM", "ENOENT"];
    let files = [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sysrq-trigger",
        "/proc/irq/0/smp_affinity",
    ];
    for file in files {
        check::refused(&ctx.inside(&["may-write", file]).await?, &refusals)?;
    }
    if !is_root() {
        bail!(Skip("refused, but only root may write them outside".into()));
    }
    ensure!(ctx.outside(&["may-write", files[0]])? == "ok", "root can't write {} either", files[0]);
    Ok(())
}

/// A10: empty, or can't be opened.
async fn kernel_memory_and_keys_are_masked(ctx: Ctx) -> Result<()> {
    let mut readable_outside = false;
    for file in ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/kmsg"] {
        let result = ctx.inside(&["read", file]).await?;
        check::exited(&result, 0)?;
        let said = result.stdout.text();
        ensure!(said == "ok 0\n" || said.starts_with("errno "), "{file}: {}", check::describe(&result));
        // Reading the kernel's messages consumes them.
        readable_outside |= file != "/proc/kmsg" && {
            let outside = ctx.outside(&["read", file])?;
            outside.starts_with("ok") && outside != "ok 0"
        };
    }
    if !readable_outside {
        bail!(Skip("masked, but the host shows nothing there either".into()));
    }
    Ok(())
}

/// A10, A49: the kernel requires no capability of user 0 to read these; the list is the host's own.
async fn root_reads_no_files_reserved_for_root(ctx: Ctx) -> Result<()> {
    if !is_root() {
        bail!(Skip("only root can read them".into()));
    }
    let mut readable_outside = 0;
    for entry in fs::read_dir("/proc")?.flatten() {
        // Processes differ inside, and reading the kernel's messages consumes them.
        let is_process =
            entry.file_name().to_string_lossy().starts_with(|first: char| first.is_ascii_digit());
        let Ok(metadata) = entry.metadata() else { continue };
        if is_process || !metadata.is_file() || metadata.mode() & 0o004 != 0 || entry.file_name() == "kmsg" {
            continue;
        }
        let path = entry.path().to_string_lossy().into_owned();
        let said = ctx.inside(&["read", &path]).await?.stdout.text();
        ensure!(said == "ok 0\n" || said.starts_with("errno "), "{path}: {said}");
        let outside = ctx.outside(&["read", &path])?;
        readable_outside += u32::from(outside.starts_with("ok ") && outside != "ok 0");
    }
    ensure!(readable_outside > 0, "root can read none of them on the host either");
    Ok(())
}

/// A10: no block device, whatever its name.
async fn disks_are_hidden(ctx: Ctx) -> Result<()> {
    let result = ctx.sh("for file in /dev/*; do [ -b \"$file\" ] && echo \"$file\"; done; true").await?;
    check::printed(&result, "")?;
    check::printed(&ctx.sh("test -c /dev/null && echo there").await?, "there")
}
