//! Where files are reached by their paths, what is used there, and why.

use crate::tidy::exception::Exception;

/// For code that handles our own files and little else.
const EVERYTHING: &[&str] = &[];

pub(super) const EXCEPTIONS: &[Exception] = &[
    Exception {
        place: "crates/agentctl/src/commands/man.rs",
        uses: &["canonicalize"],
        why: "a directory that the user named, opened by its descriptor afterwards",
    },
    Exception {
        place: "crates/agentctl/src/commands/mcp.rs",
        uses: &["File", "canonicalize"],
        why: "reads /dev/urandom; the workspace's own path, for printing",
    },
    Exception {
        place: "crates/agentctl/src/commands/run.rs",
        uses: &["canonicalize"],
        why: "the workspace's own path, for printing",
    },
    Exception { place: "crates/agentctl/src/signals.rs", uses: &["fs"], why: "reads /proc/self alone" },
    Exception {
        place: "crates/exec-bootstrap/src/project.rs",
        uses: &["canonicalize"],
        why: "the project that the user named, opened by its descriptor afterwards",
    },
    Exception {
        place: "crates/exec-config/src/surroundings.rs",
        uses: &["canonicalize", "metadata", "symlink_metadata", "is_dir", "is_symlink"],
        why: "directories above a project, which are looked at and not opened; files are opened by `exec_files`",
    },
    Exception {
        place: "crates/exec-config/src/write.rs",
        uses: &["canonicalize"],
        why: "a directory that the user named, opened by its descriptor afterwards",
    },
    Exception {
        place: "crates/exec-container/src/engine/greeting.rs",
        uses: &["fs"],
        why: "reads /proc alone",
    },
    Exception {
        place: "crates/exec-container/src/image/build/inputs.rs",
        uses: &["metadata"],
        why: "of a file that `exec_files` opened",
    },
    Exception {
        place: "crates/exec-container/src/image/build/snapshot.rs",
        uses: &["metadata"],
        why: "of a file that `exec_files` opened",
    },
    Exception {
        place: "crates/exec-container/src/image/build/program.rs",
        uses: &["canonicalize"],
        why: "programs on the search path; those in the workspace are refused",
    },
    Exception {
        place: "crates/exec-container/src/cleanup/last_resort/",
        uses: &["fs"],
        why: "reads /proc alone",
    },
    Exception {
        place: "crates/exec-container/src/lifecycle/out_of_memory/",
        uses: &["fs", "File", "exists", "is_dir"],
        why: "reads control groups alone",
    },
    Exception {
        place: "crates/exec-container/src/host/facts.rs",
        uses: &["fs", "exists"],
        why: "reads /proc, /sys and control groups alone",
    },
    Exception {
        place: "crates/exec-container/src/discovery/surroundings.rs",
        uses: &["fs", "exists"],
        why: "looks for sockets and programs of engines; files are opened by `exec_files`",
    },
    Exception { place: "crates/exec-doctor/src/host/", uses: &["fs"], why: "reads /proc and /sys alone" },
    Exception {
        place: "crates/exec-doctor/src/sandbox/network.rs",
        uses: &["fs"],
        why: "reads /proc/self alone",
    },
    Exception {
        place: "crates/exec-doctor/src/sandbox/ownership.rs",
        uses: &["fs", "metadata"],
        why: "a directory made for this check; one entry is looked at and not followed",
    },
    Exception { place: "crates/exec-doctor/src/sandbox/stop.rs", uses: &["fs"], why: "reads /proc alone" },
    Exception {
        place: "crates/exec-doctor/src/sandbox/worktree.rs",
        uses: &["fs", "metadata"],
        why: "a directory made for this check, in which only commands of this check ran",
    },
    Exception {
        place: "crates/exec-host/src/system.rs",
        uses: &["fs", "is_symlink", "is_dir"],
        why: "directories of the system, which no command can write",
    },
    Exception {
        place: "crates/exec-host/src/secrets.rs",
        uses: &["fs", "exists"],
        why: "the roots of the search; what lies below is listed by `exec_files`",
    },
    Exception {
        place: "crates/exec-host/src/credentials.rs",
        uses: &["fs", "is_symlink", "is_dir"],
        why: "names in toolchains, which are looked at; files are opened by `exec_files`",
    },
    Exception {
        place: "crates/exec-host/src/toolchains.rs",
        uses: &["canonicalize"],
        why: "toolchains in the user's home, which are looked at and not opened",
    },
    Exception {
        place: "crates/exec-local/src/jail.rs",
        uses: &["canonicalize"],
        why: "/etc/resolv.conf alone",
    },
    Exception {
        place: "crates/exec-local/src/os/linux/mod.rs",
        uses: &["fs"],
        why: "reads /proc/self alone",
    },
    Exception {
        place: "crates/exec-workshop/src/read.rs",
        uses: &["canonicalize"],
        why: "the directory of a file that the user named, for paths in messages and mounts, which are checked where they are used",
    },
    Exception {
        place: "crates/exec-core/src/host/",
        uses: &["fs", "exists"],
        why: "reads /proc, /sys and /run alone",
    },
    Exception {
        place: "crates/exec-core/src/resolve/",
        uses: EVERYTHING,
        why: "the checks of the paths themselves, which look before anything is opened",
    },
    Exception {
        place: "crates/exec-container/src/host/cache.rs",
        uses: EVERYTHING,
        why: "the cache, which `OwnPlaces` keeps out of reach",
    },
    Exception {
        place: "crates/exec-container/src/channel/fifo/",
        uses: EVERYTHING,
        why: "FIFO channels in the cache: the pipes of one container, whose directory is taken away once it is open",
    },
    Exception {
        place: "crates/exec-control/src/",
        uses: EVERYTHING,
        why: "records and the audit log, which `OwnPlaces` keeps out of reach; /proc and control groups",
    },
];
