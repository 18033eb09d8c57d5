//! System calls that no build or test needs and that exploits use.

use anyhow::{Result, bail, ensure};

use crate::case::{Case, Skip};
use crate::{Ctx, check};

/// One case per attempt of the probe, named after it.
macro_rules! refused {
    ($($name:ident = $attempt:literal),* $(,)?) => {
        &[$(Case {
            name: stringify!($name),
            shows: "A28 R50",
            needs: &[crate::Need::Claim(exec_core::Claim::SyscallFilter)],
            run: |ctx| Box::pin(is_refused(ctx, $attempt)),
        }),*]
    };
}

pub(super) const CASES: &[Case] = refused![
    io_uring = "io_uring_setup",
    socket_vsock = "socket-vsock",
    socket_alg = "socket-alg",
    socket_packet = "socket-packet",
    userfaultfd = "userfaultfd",
    keyctl = "keyctl",
    add_key = "add_key",
    bpf = "bpf",
    perf_event_open = "perf_event_open",
    open_by_handle_at = "open_by_handle_at",
    new_user_namespace = "unshare-user",
    clone_into_user_namespace = "clone-user",
    clone3_into_user_namespace = "clone3-user",
    set_namespace = "setns",
    chroot = "chroot",
    old_32_bit_door = "int80",
    x32_door = "x32",
];

/// The errors of a filter.
const REFUSALS: [&str; 4] = ["EPERM", "ENOSYS", "EACCES", "EAFNOSUPPORT"];

/// A28, R50: refused inside, although the host can do it.
async fn is_refused(ctx: Ctx, attempt: &str) -> Result<()> {
    let args = ["syscall", attempt];
    let result = ctx.inside(&args).await?;
    check::exited(&result, 0)?;
    let inside = result.stdout.text();
    ensure!(is_refusal(&inside), "expected a refusal; {}", check::describe(&result));
    let outside = ctx.outside(&args)?;
    if is_refusal(&outside) || outside.starts_with("signal ") {
        bail!(Skip(format!(
            "refused inside ({}), but the host itself answers `{outside}`",
            inside.trim_end()
        )));
    }
    Ok(())
}

/// An error of the call's own, such as a stale handle, is not a refusal: the call was let through.
fn is_refusal(said: &str) -> bool {
    let said = said.trim_end();
    // 31 is SIGSYS, with which a filter may kill; 11 is SIGSEGV, the result of a missing entry.
    said.strip_prefix("errno ").is_some_and(|errno| REFUSALS.contains(&errno)) || said == "signal 31"
}
