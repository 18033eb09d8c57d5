//! The network: none, unless requested.

use std::net::{TcpListener, UdpSocket};

use anyhow::{Result, bail, ensure};
use exec_core::{ExecOpts, Network};

use crate::case::{Case, Skip, case};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(the_hosts_loopback_is_out_of_reach, "A20 R30", NoNetwork),
    case!(the_hosts_ipv6_loopback_is_out_of_reach, "A20 R30", NoNetwork),
    case!(datagrams_to_the_host_do_not_arrive, "A20 R30", NoNetwork),
    case!(the_world_is_out_of_reach, "A20 R30", NoNetwork),
    case!(cloud_metadata_is_out_of_reach, "A20 R30", NoNetwork),
    case!(proxy_variables_open_no_way_out, "A22 R30", NoNetwork),
    case!(there_is_a_loopback_inside, "R30", NoNetwork),
    case!(tcp_is_denied, "A20 R30", NoTcp),
    case!(the_hosts_network_on_request, "R30"),
];

/// Reserved for documentation: no host has these addresses.
const NOWHERE: &str = "192.0.2.1:9";

const UNREACHABLE: [&str; 3] = ["ENETUNREACH", "ECONNREFUSED", "EADDRNOTAVAIL"];

/// A listener on the host that the host reaches and the cell does not.
async fn listener_is_out_of_reach(ctx: &Ctx, address: &str, errnos: &[&str]) -> Result<()> {
    let Ok(listener) = TcpListener::bind(address) else {
        bail!(Skip(format!("the host has no {address}")));
    };
    is_out_of_reach(ctx, &listener, &ctx.opts(), errnos).await
}

async fn is_out_of_reach(ctx: &Ctx, listener: &TcpListener, opts: &ExecOpts, errnos: &[&str]) -> Result<()> {
    let to = listener.local_addr()?.to_string();
    ensure!(ctx.outside(&["connect", "tcp", &to])? == "ok", "the listener can't be reached outside either");
    listener.accept()?;
    check::refused(&ctx.run(&ctx.probe(&["connect", "tcp", &to]), opts).await?, errnos)?;
    listener.set_nonblocking(true)?;
    ensure!(listener.accept().is_err(), "a connection arrived");
    Ok(())
}

/// A20, R30
async fn the_hosts_loopback_is_out_of_reach(ctx: Ctx) -> Result<()> {
    listener_is_out_of_reach(&ctx, "127.0.0.1:0", &UNREACHABLE).await
}

/// A20, R30
async fn the_hosts_ipv6_loopback_is_out_of_reach(ctx: Ctx) -> Result<()> {
    listener_is_out_of_reach(&ctx, "[::1]:0", &UNREACHABLE).await
}

/// A20, R30: sending a datagram succeeds even without a receiver, so the host checks.
async fn datagrams_to_the_host_do_not_arrive(ctx: Ctx) -> Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let to = socket.local_addr()?.to_string();
    ensure!(ctx.outside(&["connect", "udp", &to])? == "ok", "no datagram can be sent outside either");
    socket.recv(&mut [0; 8])?;
    ctx.inside(&["connect", "udp", &to]).await?;
    socket.set_nonblocking(true)?;
    ensure!(socket.recv(&mut [0; 8]).is_err(), "a datagram arrived");
    Ok(())
}

/// A20, R30: the cell has no route to it.
async fn the_world_is_out_of_reach(ctx: Ctx) -> Result<()> {
    check::refused_inside_only(&ctx, &["connect", "udp", NOWHERE], &["ENETUNREACH"]).await
}

/// A20, R30
async fn cloud_metadata_is_out_of_reach(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&["connect", "tcp", "169.254.169.254:80"]).await?;
    check::refused(&result, &["ENETUNREACH"])?;
    check::refused_inside_only(&ctx, &["connect", "udp", "169.254.169.254:80"], &["ENETUNREACH"]).await
}

/// A22, R30: variables that name a proxy open no way out, neither past the proxy nor to it.
async fn proxy_variables_open_no_way_out(ctx: Ctx) -> Result<()> {
    let (proxy, server) = (TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?);
    let named = format!("http://{}", proxy.local_addr()?);
    let variables = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    let opts = variables.iter().fold(ctx.opts(), |opts, name| opts.with_env(*name, &named));
    for listener in [server, proxy] {
        is_out_of_reach(&ctx, &listener, &opts, &UNREACHABLE).await?;
    }
    Ok(())
}

/// R30: tests that connect to themselves work.
async fn there_is_a_loopback_inside(ctx: Ctx) -> Result<()> {
    let script = "exec ./exec-probe connect udp 127.0.0.1:9";
    check::printed(&ctx.sh(script).await?, "ok")
}

/// A20, R30: even without its own network namespace, connections are refused.
async fn tcp_is_denied(ctx: Ctx) -> Result<()> {
    let refusals = ["EACCES", "EPERM", "ECONNREFUSED", "ENETUNREACH"];
    listener_is_out_of_reach(&ctx, "127.0.0.1:0", &refusals).await
}

/// R30: the host's network is available on request. The control of all the others: the probe does connect.
async fn the_hosts_network_on_request(ctx: Ctx) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let to = listener.local_addr()?.to_string();
    let opts = ctx.opts().with_network(Network::Host);
    check::printed(&ctx.run(&ctx.probe(&["connect", "tcp", &to]), &opts).await?, "ok")
}
