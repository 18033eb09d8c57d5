//! Sockets of the host: their servers act outside the cell.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use anyhow::{Context, Result};
use exec_core::{ErrorKind, MountSpec};

use crate::case::{Case, case};
use crate::probe::open_to_all;
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(sockets_outside_are_hidden, "A12", NoSocketsOutsideMounts),
    case!(abstract_sockets_are_out_of_reach, "A12 A20", NoSocketsOutsideMounts),
    case!(engine_and_bus_sockets_are_hidden, "A12", NoSocketsOutsideMounts),
    case!(sockets_in_the_mounts_answer, "A45", NoSocketsOutsideMounts),
    case!(mounting_a_socket_is_refused, "A12"),
];

/// A12
async fn sockets_outside_are_hidden(ctx: Ctx) -> Result<()> {
    let dir = tempfile::tempdir()?;
    open_to_all(dir.path())?;
    let path = dir.path().join("s");
    let _listener = UnixListener::bind(&path)?;
    let args = ["connect", "unix", path.to_str().context("path")?];
    check::refused_inside_only(&ctx, &args, &["ENOENT", "EACCES"]).await
}

/// A12, A20: a name without a file, which belongs to the network namespace.
async fn abstract_sockets_are_out_of_reach(ctx: Ctx) -> Result<()> {
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(ctx.marker())?)?;
    let args = ["connect", "abstract", ctx.marker()];
    check::refused_inside_only(&ctx, &args, &["ECONNREFUSED", "EPERM", "EACCES"]).await
}

/// A12: none of those that a host may have.
async fn engine_and_bus_sockets_are_hidden(ctx: Ctx) -> Result<()> {
    for path in [
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/podman/podman.sock",
        "/run/containerd/containerd.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private",
    ] {
        check::refused(&ctx.inside(&["connect", "unix", path]).await?, &["ENOENT", "EACCES"])?;
    }
    Ok(())
}

/// A45: the limit of the claim. A host's socket answers from the workspace and from a read-only mount; if
/// that is ever refused, the claim can be widened.
async fn sockets_in_the_mounts_answer(ctx: Ctx) -> Result<()> {
    let mounted = tempfile::tempdir()?;
    open_to_all(mounted.path())?;
    let opts = ctx.opts().with_mount(MountSpec::read_only(mounted.path()));
    for directory in [ctx.workspace(), mounted.path()] {
        let path = directory.join("s");
        let _listener = UnixListener::bind(&path)?;
        let args = ["connect", "unix", path.to_str().context("path")?];
        check::printed(&ctx.run(&ctx.probe(&args), &opts).await?, "ok")?;
    }
    Ok(())
}

/// A12: a request for one is a mistake or worse.
async fn mounting_a_socket_is_refused(ctx: Ctx) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("s");
    let _listener = UnixListener::bind(&path)?;
    let opts = ctx.opts().with_mount(MountSpec::read_only(path));
    check::failed(ctx.executor().run(&ctx.probe(&["exit", "0"]), &opts).await, ErrorKind::InvalidInput)
        .map(drop)
}
