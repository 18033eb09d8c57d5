//! Groups on this machine's own hierarchies if they are writable; otherwise the notes.

use super::*;
use crate::sys::{self, Fork};
use exec_wire::CgroupPlan;

/// Making groups may move this process, with all its threads, into its own scope.
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn plan(name: &str) -> CgroupPlan {
    CgroupPlan {
        name: format!("exec-init-unit-{}-{name}", std::process::id()),
        memory: Some(64 << 20),
        pids: Some(10),
        cpu_milli: Some(500),
    }
}

#[test]
fn every_limit_holds_or_is_noted() {
    let _alone = alone();
    for killing in [Killing::ByGroup, Killing::ByNamespace] {
        let mut notes = Vec::new();
        let made = Cgroup::make(&plan("limits"), killing, &mut notes);
        let held = made.as_ref().map(Cgroup::read_back).unwrap_or_default();
        let limits =
            [("memory", held.memory, 64 << 20), ("pids", held.pids, 10), ("cpu", held.cpu_milli, 500)];
        for (name, found, asked) in limits {
            let complaints = notes.iter().filter(|note| note.about.name() == name).count();
            assert!((found == Some(asked)) ^ (complaints == 1), "{name}: {found:?} {notes:?}");
        }
        if let Some(made) = made {
            assert_eq!(made.remove(), Vec::<String>::new());
        }
    }
}

#[test]
fn a_bad_name_is_refused() {
    for name in ["", "a/b", "..", ".x", "a\0"] {
        let mut notes = Vec::new();
        let plan = CgroupPlan { name: name.to_owned(), ..plan("x") };
        assert!(Cgroup::make(&plan, Killing::ByNamespace, &mut notes).is_none());
        assert_eq!(notes.len(), 1, "{notes:?}");
    }
}

#[test]
fn members_are_killed_and_the_groups_removed() {
    let _alone = alone();
    let mut notes = Vec::new();
    let Some(mut made) = Cgroup::make(&plan("kill"), Killing::ByGroup, &mut notes) else {
        assert!(!notes.is_empty());
        return;
    };
    let (gate, joined) = rustix::pipe::pipe().unwrap();
    let Fork::Parent(pid) = sys::fork().unwrap() else {
        let mut notes = Vec::new();
        made.join(false, &mut notes);
        let _ = rustix::io::write(&joined, if notes.is_empty() { b"y" } else { b"n" });
        loop {
            sys::pause(std::time::Duration::from_secs(1));
        }
    };
    let mut answer = [0];
    rustix::io::read(&gate, &mut answer).unwrap();
    assert_eq!(answer, *b"y");
    made.kill_all();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    let (_, status) =
        rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()).unwrap().unwrap();
    assert_eq!(status.terminating_signal(), Some(libc::SIGKILL));
    assert_eq!(made.remove(), Vec::<String>::new());
}

#[test]
fn discovered_groups_are_never_killed() {
    let _alone = alone();
    if let Some(found) = Cgroup::discover() {
        found.kill_all();
        assert_eq!(found.remove(), Vec::<String>::new());
        assert!(found.read_back().cgroup.is_some());
    }
}

#[test]
fn cpu_time_in_either_notation() {
    assert_eq!(v2::cpu_milli("150000 100000\n"), Some(1500));
    assert_eq!(v2::cpu_milli("max 100000\n"), None);
    assert_eq!(v2::cpu_milli("1 0\n"), None);
    assert!(v2::has_any("cpuset cpu io\n") && !v2::has_any("hugetlb\n") && !v2::has_any(""));
}
