//! The single table of keys. Parsing, variables, the schema, `init` and `show` are all derived from it.

use exec_core::{Cpus, Gpus, IsolationLevel, Network, Preset};

use crate::fault::Fault;
use crate::node::Node;
use crate::read::{self, Base, parsed};
use crate::setting::Setting;
use crate::tmpfs;
use crate::values::{self, Sandbox, WorkspaceAccess};

/// One key of a document.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The option with the same meaning.
    pub(crate) flag: &'static str,
    /// The variable with the same meaning.
    pub(crate) variable: Option<&'static str>,
    /// Its purpose, in a sentence or two.
    pub(crate) about: &'static str,
    /// A sensible value, as JSON.
    pub(crate) example: &'static str,
    pub(crate) shape: Shape,
    pub(crate) read: fn(&Node, &Base) -> Result<Setting, Fault>,
}

/// The kind of its value.
pub(crate) enum Shape {
    Executor,
    Switch,
    Words(&'static [&'static str]),
    Text,
    Gpus,
    User,
    Size,
    Cpus,
    Count,
    /// A time, or `unlimited`.
    Time,
    Span,
    List,
    Env,
    Tmpfs,
}

/// `executor` as a word.
pub(crate) fn sandbox(node: &Node, _: &Base) -> Result<Setting, Fault> {
    read::word::<Sandbox>(node).map(Setting::Executor)
}

const NETWORKS: Shape = Shape::Words(&["none", "bridge", "host"]);
const LEVELS: Shape = Shape::Words(&["process-group", "subreaper", "namespaces", "container", "vm"]);

/// Every key at the top of a document.
pub(crate) const KEYS: [Key; 22] = [
    Key {
        name: "executor",
        flag: "--sandbox",
        variable: Some("AGENTCTL_SANDBOX"),
        about: "Which sandbox: auto takes the best there is, one that is named is used or the run is refused. As a table, \
                `type` is that word, and `docker`, `podman` and `local` have settings that count for that sandbox only.",
        example: "\"auto\"",
        shape: Shape::Executor,
        read: sandbox,
    },
    Key {
        name: "no_fallback",
        flag: "--no-fallback",
        variable: Some("AGENTCTL_NO_FALLBACK"),
        about: "With auto: refuse, rather than take anything but the first choice.",
        example: "false",
        shape: Shape::Switch,
        read: |node, _| read::switch(node).map(Setting::NoFallback),
    },
    Key {
        name: "min_isolation",
        flag: "--min-isolation",
        variable: Some("AGENTCTL_MIN_ISOLATION"),
        about: "Refuse to run with less isolation than this.",
        example: "\"namespaces\"",
        shape: LEVELS,
        read: |node, _| {
            parsed(node, "an isolation level", str::parse::<IsolationLevel>).map(Setting::MinIsolation)
        },
    },
    Key {
        name: "image",
        flag: "--image",
        variable: Some("AGENTCTL_IMAGE"),
        about: "The image to run in, for containers; host is this machine's own programs, read-only, and build is built from \
                the workspace's Dockerfile.dev or Dockerfile.",
        example: "\"host\"",
        shape: Shape::Text,
        read: |node, _| read::image(node).map(Setting::Image),
    },
    Key {
        name: "gpus",
        flag: "--gpus",
        variable: Some("AGENTCTL_GPUS"),
        about: "Graphics processors the command may use: all, or how many; containers only.",
        example: "\"all\"",
        shape: Shape::Gpus,
        read: |node, _| parsed(node, "\"all\" or a number", str::parse::<Gpus>).map(Setting::Gpus),
    },
    Key {
        name: "network",
        flag: "--network",
        variable: Some("AGENTCTL_NETWORK"),
        about: "The command's network: none is a loopback of its own, bridge a way out (containers only), host the host's.",
        example: "\"none\"",
        shape: NETWORKS,
        read: |node, _| parsed(node, "a network", str::parse::<Network>).map(Setting::Network),
    },
    Key {
        name: "user",
        flag: "--user",
        variable: Some("AGENTCTL_USER"),
        about: "Run as this user, UID or UID:GID. Without it: the owner of the workspace.",
        example: "\"1000:1000\"",
        shape: Shape::User,
        read: |node, _| parsed(node, "a user", values::user).map(Setting::User),
    },
    Key {
        name: "workspace_mode",
        flag: "--workspace-mode",
        variable: Some("AGENTCTL_WORKSPACE_MODE"),
        about: "Whether the workspace may be written. Without it: rw, or ro where there are write_paths.",
        example: "\"rw\"",
        shape: Shape::Words(&["rw", "ro"]),
        read: |node, _| read::word::<WorkspaceAccess>(node).map(Setting::WorkspaceMode),
    },
    Key {
        name: "write_paths",
        flag: "--write-path",
        variable: None,
        about: "Paths in a read-only workspace that may be written all the same.",
        example: "[\"target\"]",
        shape: Shape::List,
        read: |node, _| read::paths(node).map(Setting::WritePaths),
    },
    Key {
        name: "mounts",
        flag: "--mount",
        variable: None,
        about: "More of the host: SRC, SRC:DST or SRC:DST:ro|rw, read-only unless said otherwise. ~/ is your home, and \
                a relative SRC is so to this file. Those of several files and options add up.",
        example: "[\"/srv/data:/data:ro\"]",
        shape: Shape::List,
        read: |node, base| read::mounts(node, base).map(Setting::Mounts),
    },
    Key {
        name: "env",
        flag: "--env",
        variable: None,
        about: "Variables for the command: a table of names and values, or a list in which a name alone passes your own \
                value on. Those of several files and options add up.",
        example: "{\"RUST_BACKTRACE\": \"1\"}",
        shape: Shape::Env,
        read: |node, _| read::env(node).map(Setting::Env),
    },
    Key {
        name: "preset",
        flag: "--preset",
        variable: Some("AGENTCTL_PRESET"),
        about: "Where limits that are not given come from: default is 2 CPUs, 2g, 1024 processes, 5m; build is for \
                compiling, strict for what nobody trusts.",
        example: "\"default\"",
        shape: Shape::Words(&["default", "build", "strict"]),
        read: |node, _| read::word::<Preset>(node).map(Setting::Preset),
    },
    Key {
        name: "memory",
        flag: "--memory",
        variable: Some("AGENTCTL_MEMORY"),
        about: "Memory of all processes together, /tmp included.",
        example: "\"2g\"",
        shape: Shape::Size,
        read: |node, _| read::size(node).map(Setting::Memory),
    },
    Key {
        name: "cpus",
        flag: "--cpus",
        variable: Some("AGENTCTL_CPUS"),
        about: "CPUs, also parts of one.",
        example: "2",
        shape: Shape::Cpus,
        read: |node, _| parsed(node, "a number", values::limit::<Cpus>).map(Setting::Cpus),
    },
    Key {
        name: "pids",
        flag: "--pids",
        variable: Some("AGENTCTL_PIDS"),
        about: "Processes and threads at once.",
        example: "1024",
        shape: Shape::Count,
        read: |node, _| read::count(node).map(Setting::Pids),
    },
    Key {
        name: "open_files",
        flag: "--open-files",
        variable: Some("AGENTCTL_OPEN_FILES"),
        about: "Open files per process.",
        example: "1024",
        shape: Shape::Count,
        read: |node, _| read::count(node).map(Setting::OpenFiles),
    },
    Key {
        name: "tmp_size",
        flag: "--tmp-size",
        variable: Some("AGENTCTL_TMP_SIZE"),
        about: "Size of the private /tmp.",
        example: "\"1g\"",
        shape: Shape::Size,
        read: |node, _| read::size(node).map(Setting::TmpSize),
    },
    Key {
        name: "timeout",
        flag: "--timeout",
        variable: Some("AGENTCTL_TIMEOUT"),
        about: "Longest run; a bare number is seconds.",
        example: "\"5m\"",
        shape: Shape::Time,
        read: |node, _| read::time(node).map(Setting::Timeout),
    },
    Key {
        name: "idle_timeout",
        flag: "--idle-timeout",
        variable: Some("AGENTCTL_IDLE_TIMEOUT"),
        about: "Longest silence.",
        example: "\"2m\"",
        shape: Shape::Span,
        read: |node, _| read::span(node).map(Setting::IdleTimeout),
    },
    Key {
        name: "grace",
        flag: "--grace",
        variable: Some("AGENTCTL_GRACE"),
        about: "Time between the polite signal and the kill when a run is stopped.",
        example: "\"5s\"",
        shape: Shape::Span,
        read: |node, _| read::span(node).map(Setting::Grace),
    },
    Key {
        name: "max_output",
        flag: "--max-output",
        variable: Some("AGENTCTL_MAX_OUTPUT"),
        about: "Stop a run that writes more output than this.",
        example: "\"100m\"",
        shape: Shape::Size,
        read: |node, _| read::size(node).map(Setting::MaxOutput),
    },
    Key {
        name: "best_effort_limits",
        flag: "--best-effort-limits",
        variable: Some("AGENTCTL_BEST_EFFORT_LIMITS"),
        about: "Run even if a limit that is named can't be held, and report that, instead of refusing.",
        example: "false",
        shape: Shape::Switch,
        read: |node, _| read::switch(node).map(Setting::BestEffortLimits),
    },
];

/// One key of a sandbox's own section.
pub(crate) struct SectionKey {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) shape: Shape,
    pub(crate) read: fn(&Node, &Base) -> Result<Setting, Fault>,
}

/// The keys of the sections `docker` and `podman`; `local` has all but the first.
pub(crate) const SECTION_KEYS: [SectionKey; 6] = [
    SectionKey {
        name: "image",
        about: "As `image`.",
        shape: Shape::Text,
        read: |node, _| read::image(node).map(Setting::Image),
    },
    SectionKey {
        name: "network",
        about: "As `network`.",
        shape: NETWORKS,
        read: |node, _| parsed(node, "a network", str::parse::<Network>).map(Setting::Network),
    },
    SectionKey {
        name: "readonly",
        about: "Whether the workspace is read-only.",
        shape: Shape::Switch,
        read: |node, _| {
            let mode = |readonly| if readonly { WorkspaceAccess::Ro } else { WorkspaceAccess::Rw };
            read::switch(node).map(|readonly| Setting::WorkspaceMode(mode(readonly)))
        },
    },
    SectionKey {
        name: "tmpfs",
        about: "The private /tmp and its size, like {\"/tmp\": \"1g\"}. /run is there anyway, with 10m.",
        shape: Shape::Tmpfs,
        read: |node, _| tmpfs::size_of_tmp(node).map(Setting::TmpSize),
    },
    SectionKey {
        name: "volumes",
        about: "As `mounts`.",
        shape: Shape::List,
        read: |node, base| read::mounts(node, base).map(Setting::Mounts),
    },
    SectionKey {
        name: "env",
        about: "As `env`.",
        shape: Shape::Env,
        read: |node, _| read::env(node).map(Setting::Env),
    },
];

/// Keys that users expect here but that live elsewhere, with what to write instead.
pub(crate) const ELSEWHERE: [(&str, &str); 8] = [
    ("sandbox", "in a file it is called `executor`"),
    ("allow_dangerous_mounts", "say it with the command that needs it: --allow-dangerous-mounts"),
    ("workspace", "say it with the command: --workspace DIR"),
    ("cwd", "say it with the command: --cwd DIR"),
    ("limits", "limits stand at the top: `memory`, `cpus`, `pids`, `timeout` …"),
    ("docker", "it belongs into `executor`: `executor.docker`"),
    ("podman", "it belongs into `executor`: `executor.podman`"),
    ("local", "it belongs into `executor`: `executor.local`"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    /// R66: every example in the table is valid.
    #[test]
    fn every_example_is_read_as_its_own_key() {
        for key in &KEYS {
            let node = Format::Json.parse(key.example).unwrap();
            assert_eq!((key.read)(&node, &Base::default()).unwrap().key(), key.name);
        }
    }

    #[test]
    fn names_follow_one_rule() {
        for key in KEYS.iter().filter(|key| key.name != "executor") {
            let flag = format!("--{}", key.name.replace('_', "-"));
            assert!(key.flag == flag || format!("{}s", key.flag) == flag, "{}", key.name);
            let variable = format!("AGENTCTL_{}", key.name.to_uppercase());
            assert!(key.variable.is_none_or(|known| known == variable), "{}", key.name);
        }
    }
}
