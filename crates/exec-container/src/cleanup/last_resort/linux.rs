//! Finds a container's processes by their control group.

use exec_control::is_named_after;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Kills all processes in the container. Those of another user stay, unless we are root.
pub(crate) fn kill_processes_of(id: &str) {
    let Ok(entries) = std::fs::read_dir("/proc") else { return };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    for pid in numbers.filter(|pid| is_inside(*pid, id)).filter_map(Pid::from_raw) {
        // Open the process first, then check it again: its PID may have been reused.
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
        if is_inside(pid.as_raw_nonzero().get(), id) {
            let killed = pidfd_send_signal(&process, Signal::KILL);
            tracing::debug!(
                pid = pid.as_raw_nonzero().get(),
                container = id,
                ?killed,
                "killed without its engine"
            );
        }
    }
}

fn is_inside(pid: i32, id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/cgroup")).is_ok_and(|groups| names(&groups, id))
}

/// Whether a control group is named after the container: `/docker/<id>`, `/system.slice/docker-<id>.scope`.
fn names(groups: &str, id: &str) -> bool {
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    paths.flat_map(|path| path.split('/')).any(|part| is_named_after(part, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "2a86fc98406e6a8c1f66b6f2274b06345de3bbf966eba0e3a98785605345dd32";

    #[test]
    fn a_container_is_known_by_its_whole_id() {
        for path in
            [format!("/docker/{ID}"), format!("/system.slice/docker-{ID}.scope"), format!("/a/{ID}/b")]
        {
            assert!(names(&format!("12:pids:/\n0::{path}\n"), ID), "{path}");
        }
        for path in
            ["/docker/".to_owned(), format!("/docker/x{ID}"), format!("/docker/{}", &ID[1..]), "/".to_owned()]
        {
            assert!(!names(&format!("0::{path}\n"), ID), "{path}");
        }
    }

    /// A container that does not exist has no processes; this process is certainly not in it.
    #[test]
    fn nobody_else_is_harmed() {
        kill_processes_of(ID);
        kill_processes_of("");
        kill_processes_of("docker");
    }
}
