//! Where a backend is named outside of its crate, and why.

/// A file or directory of the source, and the names it may use.
#[derive(Debug)]
pub(super) struct Exception {
    /// The beginning of a path.
    pub(super) place: &'static str,
    /// As the rule spells them.
    pub(super) names: &'static [&'static str],
    #[expect(dead_code, reason = "written down for the reader, who may want to add a place")]
    pub(super) why: &'static str,
}

impl Exception {
    pub(super) fn covers(&self, path: &str, name: &str) -> bool {
        path.starts_with(self.place) && self.names.contains(&name)
    }
}

const BOTH: &[&str] = &["\"docker\"", "\"podman\""];

pub(super) const EXCEPTIONS: &[Exception] = &[
    Exception {
        place: "crates/agent-exec/src/backends.rs",
        names: &["\"docker\"", "exec_docker", "\"podman\"", "exec_podman", "exec_local"],
        why: "the one list",
    },
    Exception {
        place: "crates/agent-exec/src/lib.rs",
        names: &["exec_docker", "exec_podman", "exec_local"],
        why: "re-exports the crates of the list, for their configurations",
    },
    Exception {
        place: "crates/agentctl/src/choose.rs",
        names: &["agent_exec::local"],
        why: "`--walls` is about local cells alone",
    },
    Exception {
        place: "crates/agentctl/src/commands/workshop.rs",
        names: &["\"docker\""],
        why: "a word of the workshop's own format",
    },
    Exception {
        place: "crates/exec-workshop/src/workshop.rs",
        names: &["\"docker\""],
        why: "a word of the workshop's own format",
    },
    Exception {
        place: "crates/exec-docker/src/diagnose.rs",
        names: &["\"podman\""],
        why: "the remedy where Podman answers at Docker's address",
    },
    Exception {
        place: "crates/exec-podman/src/diagnose.rs",
        names: &["\"docker\""],
        why: "the remedy where Docker answers at Podman's address",
    },
    Exception {
        place: "crates/exec-container/src/engine/greeting.rs",
        names: BOTH,
        why: "tells the engines' products apart, whose programs have these names",
    },
    Exception {
        place: "crates/exec-files/src/own.rs",
        names: &["\"podman\""],
        why: "the directory of a socket that no command may reach",
    },
    Exception {
        place: "crates/exec-testkit/src/image.rs",
        names: &["\"podman\""],
        why: "runs the engine's program, which refuses one setting",
    },
];
