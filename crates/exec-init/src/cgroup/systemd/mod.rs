//! A place for a cell's group where systemd manages the hierarchy: a transient scope delegated to us.
//!
//! The group of a login session or service belongs to systemd: its processes and controllers are not ours to
//! change. A scope of our own leaves them alone; systemd delegates the controllers to it, keeps them there,
//! and removes the scope when its last process has ended. This takes a single request, so the few bytes of
//! D-Bus are written here: a D-Bus crate would bring an event loop or a C library into PID 1 of every cell.

mod connection;
mod message;

use std::path::Path;
use std::time::{Duration, Instant};

use self::connection::{Connection, Peer};
use self::message::{Body, Call};
use super::find::{Hierarchies, Place};

/// How long systemd may take in total. A busy machine needs a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// Interval between checks of the group we are in.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Whether systemd manages this machine or container.
pub(super) fn is_here() -> bool {
    Path::new("/run/systemd/system").exists()
}

/// Moves this process into a new scope of this name and returns its place.
pub(super) fn enter_scope(name: &str, own: &Place, controllers: &[&str]) -> Result<Place, String> {
    let user = rustix::process::geteuid();
    let deadline = Instant::now() + PATIENCE;
    let (mut connection, peer) = open(user.is_root(), user.as_raw(), deadline)?;
    let unit = format!("{name}.scope");
    connection.ask(&Call {
        destination: (peer == Peer::Bus).then_some("org.freedesktop.systemd1"),
        path: "/org/freedesktop/systemd1",
        interface: "org.freedesktop.systemd1.Manager",
        member: "StartTransientUnit",
        signature: "ssa(sv)a(sa(sv))",
        body: scope(&unit, slice(&own.dir, user.is_root()), controllers),
    })?;
    await_move(&unit, deadline).ok_or_else(|| format!("systemd did not move us into {unit}"))
}

/// Connects to the manager of this user's units: over its bus, whose interface is documented, or else
/// directly.
fn open(is_root: bool, user: u32, deadline: Instant) -> Result<(Connection, Peer), String> {
    let sockets = if is_root {
        ["/run/dbus/system_bus_socket".to_owned(), "/run/systemd/private".to_owned()]
    } else {
        [format!("/run/user/{user}/bus"), format!("/run/user/{user}/systemd/private")]
    };
    if !is_root && !sockets.iter().any(|socket| Path::new(socket).exists()) {
        return Err(format!("no systemd of this user is running (/run/user/{user}/bus is missing)"));
    }
    let mut first = None;
    for (path, peer) in sockets.iter().zip([Peer::Bus, Peer::Manager]) {
        match Connection::open(path, peer, deadline) {
            Ok(connection) => return Ok((connection, peer)),
            Err(why) => first = first.or(Some(why)),
        }
    }
    Err(first.unwrap_or_default())
}

/// The body of the request: `StartTransientUnit(name, mode, properties, auxiliary units)`.
fn scope(unit: &str, slice: Option<&str>, controllers: &[&str]) -> Body {
    let mut body = Body::default();
    body.string(unit);
    body.string("fail");
    body.array(8, |properties| {
        properties.property("Description", "s", |value| value.string("cell of agentctl"));
        if let Some(slice) = slice {
            properties.property("Slice", "s", |value| value.string(slice));
        }
        // 0 is the sender: correct even if systemd numbers processes in another namespace than ours.
        properties.property("PIDs", "au", |value| value.array(4, |list| list.uint(0)));
        properties.property("DelegateControllers", "as", |value| {
            value.array(4, |list| controllers.iter().for_each(|name| list.string(name)));
        });
        // Neither keeper nor PID 1 exits on SIGTERM; stopping the unit must end all of it.
        properties.property("KillSignal", "i", |value| value.uint(libc::SIGKILL as u32));
        properties.property("CollectMode", "s", |value| value.string("inactive-or-failed"));
    });
    body.array(8, |_| {});
    body
}

/// The slice we are in, so that its limits apply to the cell too. An ordinary user's session is in a slice of
/// the system's manager, where the user's own manager can't put anything; then the manager chooses.
fn slice(own: &Path, is_root: bool) -> Option<&str> {
    let mut parts = own.iter().filter_map(|part| part.to_str());
    if !is_root {
        parts.by_ref().find(|part| part.starts_with("user@"))?;
    }
    parts.rfind(|part| Path::new(part).extension().is_some_and(|kind| kind == "slice"))
}

/// Waits until we are in the unit: the reply only confirms that it will be started.
fn await_move(unit: &str, deadline: Instant) -> Option<Place> {
    loop {
        if let Some(place) = Hierarchies::of_self().v2().filter(|place| place.dir.ends_with(unit)) {
            return Some(place);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slice_is_that_of_the_manager_which_is_asked() {
        let of = |path: &str, is_root| slice(Path::new(path), is_root).map(str::to_owned);
        let session = "/sys/fs/cgroup/user.slice/user-7.slice/session-2.scope";
        assert_eq!(of(session, true).as_deref(), Some("user-7.slice"));
        assert_eq!(of(session, false), None);
        assert_eq!(of("/sys/fs/cgroup/system.slice/x.service", true).as_deref(), Some("system.slice"));
        let scope = "/sys/fs/cgroup/user.slice/user-7.slice/user@7.service/app.slice/x.scope";
        assert_eq!(of(scope, false).as_deref(), Some("app.slice"));
        assert_eq!(of("/sys/fs/cgroup/init.scope", true), None);
    }
}
