//! The processes beside a run: our helpers, and the processes they start.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use exec_wire::procfs::Stat;

/// A process on the host side.
#[derive(Debug)]
struct Process {
    parent: u32,
    words: String,
    directory: Option<PathBuf>,
}

fn processes() -> BTreeMap<u32, Process> {
    let here = fs::read_link("/proc/self/ns/pid").ok();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let process = |pid: u32| {
        let at = Path::new("/proc").join(pid.to_string());
        if fs::read_link(at.join("ns/pid")).ok()? != here.clone()? {
            return None;
        }
        let parent = Stat::parse(&fs::read(at.join("stat")).ok()?)?.parent;
        let words = fs::read_to_string(at.join("cmdline")).ok()?.replace('\0', " ");
        Some((pid, Process { parent, words, directory: fs::read_link(at.join("cwd")).ok() }))
    };
    numbers.filter_map(process).collect()
}

/// Command lines and working directories of the helpers of this process: its descendants, and processes that
/// have its number in the name of a container or a socket.
pub(crate) fn helpers_of(owner: u32) -> Vec<(String, PathBuf)> {
    let all = processes();
    let descends = |process: &Process| {
        let parents = std::iter::successors(Some(process), |child| all.get(&child.parent));
        parents.take(all.len()).any(|one| one.parent == owner)
    };
    let named = [format!("/podman-{owner}-"), format!("agentctl-{owner}-")];
    let is_ours =
        |process: &&Process| descends(process) || named.iter().any(|name| process.words.contains(name));
    let found = all.iter().filter(|(pid, _)| **pid != owner).map(|(_, process)| process).filter(is_ours);
    found.filter_map(|process| Some((process.words.trim().to_owned(), process.directory.clone()?))).collect()
}
