//! Whether the network is off: a separate one, without a route out.

use exec_core::{Claim, Network, Operation, Remedy};

use super::Patient;
use crate::Verdict;

/// Prints the network namespace, then all routes. Missing files are ignored.
const LOOK: &str = "readlink /proc/self/ns/net; cat /proc/net/route /proc/net/ipv6_route 2>/dev/null; exit 0";

pub(super) async fn check(patient: &Patient<'_>) -> Result<Verdict, Verdict> {
    if let Some(network @ (Network::Bridge | Network::Host)) = patient.opts.network {
        return Err(Verdict::not_tried(format!("the configuration asks for network `{network}`")));
    }
    let result = patient.shell(LOOK).await?;
    if result.outcome.isolation.holds(Claim::NoTcp) && !result.outcome.isolation.holds(Claim::NoNetwork) {
        return Ok(Verdict::weak("TCP is off, the rest of the host's network is not", fix()));
    }
    let ours = std::fs::read_link("/proc/self/ns/net").ok();
    Ok(judge(&result.stdout.text(), ours.as_ref().and_then(|ours| ours.to_str())))
}

fn fix() -> Remedy {
    Remedy::from("use a sandbox with namespaces").or(Remedy::container())
}

fn judge(seen: &str, ours: Option<&str>) -> Verdict {
    let mut lines = seen.lines();
    let Some(inside) = lines.next().filter(|line| line.starts_with("net:")) else {
        return Verdict::not_tried("the sandbox has no `readlink`, or no /proc");
    };
    if ours == Some(inside) {
        return Verdict::weak("it is the host's own network", fix());
    }
    match lines.find(|line| leads_out(line)) {
        None => Verdict::holds("off: a private loopback and no way out"),
        Some(route) => Verdict::fails(
            format!("it has a way out: {route}"),
            Remedy::from(Operation::ReportBug)
                .after("do not use this sandbox for commands that must stay offline"),
        ),
    }
}

/// Loopback routes lead nowhere; neither do rejected IPv6 routes, which have the flag 0x200.
fn leads_out(route: &str) -> bool {
    let fields: Vec<&str> = route.split_whitespace().collect();
    match fields.as_slice() {
        ["Iface", ..] => false,
        [device, _, _, _, _, _, _, _, _, _, _] => *device != "lo",
        [.., flags, device] if fields.len() == 10 => {
            let rejected = u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & 0x200 != 0);
            *device != "lo" && !rejected
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
    const OUT: &str = "eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
    const LOOPBACK: &str = "00000000000000000000000000000001 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000002 00000000 80200001       lo\n";

    /// R30, R65
    #[test]
    fn a_way_out_is_found() {
        let off = format!("net:[2]\n{HEAD}{LOOPBACK}");
        assert!(matches!(judge(&off, Some("net:[1]")), Verdict::Holds { .. }));
        assert!(matches!(judge(&off, Some("net:[2]")), Verdict::Weak { .. }));
        assert!(judge(&format!("net:[2]\n{HEAD}{OUT}"), Some("net:[1]")).is_failure());
        let six = LOOPBACK.replace("      lo", "    eth0");
        assert!(judge(&format!("net:[2]\n{six}"), Some("net:[1]")).is_failure());
        assert!(matches!(judge("", None), Verdict::NotTried { .. }));
    }
}
