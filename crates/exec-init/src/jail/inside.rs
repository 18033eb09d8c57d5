//! The process inside: from the fork to the first instruction of the cell's loop.
//!
//! Order matters throughout. Limits come first so that everything after is counted; the identity comes last
//! because every earlier step needs the capabilities that go with it.
#![expect(unsafe_code, reason = "unshare is unsafe for what it can do to descriptor tables")]

use exec_wire::{IdMap, Identity, JailSpec, Namespaces, NetworkWall, Note, Walls};
use rustix::process::umask;
use rustix::thread::UnshareFlags;

use super::fail::Fail;
use super::ids::{Groups, become_identity};
use super::lifeline::{Abandoned, Gate, adopt_orphans};
use super::{network, root};
use crate::cell::{Config, KillScope};
use crate::cgroup::Cgroup;
use crate::sys;

/// What PID 1 inherits from its keeper.
pub(super) struct Inheritance {
    pub(super) cgroup: Option<Cgroup>,
    /// PID 1 was born in the unified group and need not enter it.
    pub(super) born_inside: bool,
    pub(super) notes: Vec<Note>,
    pub(super) gate: Gate,
}

/// Why no cell is made.
enum Stop {
    Failed(Fail),
    /// The keeper is gone, or notifies the host itself.
    Abandoned,
}

impl From<Fail> for Stop {
    fn from(fail: Fail) -> Self {
        Self::Failed(fail)
    }
}

impl From<Abandoned> for Stop {
    fn from(_: Abandoned) -> Self {
        Self::Abandoned
    }
}

/// Builds the cell around this process and serves in it.
pub(super) fn live(spec: JailSpec, inheritance: Inheritance) -> ! {
    match settle(spec, inheritance) {
        Ok(config) => crate::cell::serve(config),
        Err(stop) => {
            if let Stop::Failed(fail) = stop {
                crate::preface::send_fatal(fail.0);
            }
            sys::exit_now(1)
        }
    }
}

fn settle(mut spec: JailSpec, inheritance: Inheritance) -> Result<Config, Stop> {
    let Inheritance { mut cgroup, born_inside, mut notes, gate } = inheritance;
    if let Walls::Namespaces(_) = spec.walls {
        gate.tie()?;
    }
    if let Some(cgroup) = &mut cgroup {
        cgroup.join(born_inside, &mut notes);
    }
    gate.wait()?;
    let kill_scope = match &spec.walls {
        Walls::Namespaces(walls) => {
            crate::quota::lower_watches(&mut notes);
            raise_walls(walls, &spec.identity)?;
            gate.tie()?;
            KillScope::Namespace
        }
        Walls::Subreaper { .. } => {
            // Not tied to the keeper, because only this process knows all the others. If the keeper is
            // killed, the host, its parent, hangs up, and that ends everything from here.
            adopt_orphans()?;
            become_identity(&spec.identity, Groups::of_this_process())?;
            KillScope::Descendants
        }
    };
    let home = take_scratch(&mut spec);
    Ok(Config { fifo_channel: None, landlock: spec.landlock, cgroup, notes, kill_scope, home })
}

/// The commands' own directory, which Landlock lets them write.
fn take_scratch(spec: &mut JailSpec) -> Option<Vec<u8>> {
    let Walls::Subreaper { scratch } = &spec.walls else { return None };
    let home = Some(scratch.clone()).filter(|scratch| !scratch.is_empty())?;
    if let Some(landlock) = &mut spec.landlock {
        landlock.write.push(home.clone());
    }
    Some(home)
}

fn raise_walls(walls: &Namespaces, identity: &Identity) -> Result<(), Fail> {
    // Not created with the other namespaces: its root is the group the process is in at this moment.
    unshare_cgroup().map_err(|why| Fail::wall("unshare", "cgroup namespace", why))?;
    let before = umask(rustix::fs::Mode::empty());
    root::build(&walls.mounts, identity)?;
    umask(before);
    rustix::system::sethostname(walls.hostname.as_bytes())
        .map_err(|why| Fail::new("set host name", &walls.hostname, why))?;
    if walls.network == NetworkWall::Isolated {
        network::raise_loopback()?;
    }
    let groups = match walls.ids {
        IdMap::All => Groups::Set,
        IdMap::Caller => Groups::Keep,
    };
    become_identity(identity, groups)
}

fn unshare_cgroup() -> Result<(), rustix::io::Errno> {
    // SAFETY: the cgroup namespace has no part in memory or descriptors.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWCGROUP) }
}
