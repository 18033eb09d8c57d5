//! Describes what is possible in a sandbox, in words for the model. Pure.

use exec_core::{Capabilities, Claim, Network, Plan, WorkspaceMode};

/// Where commands run and which guarantees apply, from the executor's actual claims.
pub(crate) fn place(name: &str, has: &Capabilities, plan: &Plan, mode: &WorkspaceMode) -> String {
    let lines = [
        where_it_is(name, has, plan),
        workspace(plan, mode),
        other_files(has),
        network(has, plan),
        limits(plan),
        lasting(has),
        "Only the operator can change any of this; nothing you run can.".to_owned(),
    ];
    lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

fn where_it_is(name: &str, has: &Capabilities, plan: &Plan) -> String {
    let engine = has.engine.as_ref().map_or_else(String::new, |engine| format!(" ({engine})"));
    let image = if has.images {
        format!(", image `{}`", plan.image.as_deref().unwrap_or("host"))
    } else {
        String::new()
    };
    format!("Sandbox: {name}{engine}{image}, isolation {}.", has.level)
}

fn workspace(plan: &Plan, mode: &WorkspaceMode) -> String {
    let at = plan.workspace.display();
    let writable = match mode {
        WorkspaceMode::ReadWrite => "you may change files in it".to_owned(),
        WorkspaceMode::ReadOnly { writable } if writable.is_empty() => {
            "you may read it, not change it".to_owned()
        }
        WorkspaceMode::ReadOnly { writable } => {
            let paths: Vec<String> = writable.iter().map(|path| path.display().to_string()).collect();
            format!("you may read it and change only {}", paths.join(", "))
        }
    };
    format!("Workspace: {at}; {writable}. Git hooks and git's configuration can't be changed.")
}

fn other_files(has: &Capabilities) -> String {
    let tmp = if has.claims(Claim::PrivateTmp) { " /tmp and $HOME are writable and private." } else { "" };
    let rest = if has.claims(Claim::HidesFiles) {
        "Other files of this machine are not visible, and system directories are read-only."
    } else if has.claims(Claim::ReadOnlySystem) {
        "Other files of this machine can't be changed."
    } else {
        "Other files of this machine are NOT protected: change nothing outside the workspace."
    };
    format!("{rest}{tmp}")
}

fn network(has: &Capabilities, plan: &Plan) -> String {
    match plan.network.unwrap_or(Network::None) {
        Network::None if has.claims(Claim::NoNetwork) => {
            "Network: none. Downloads and installs from the internet fail; servers you start are reachable on \
             127.0.0.1 from within the sandbox."
        }
        Network::None if has.claims(Claim::NoTcp) => "Network: TCP is cut off.",
        Network::None => "Network: none was requested, but it is NOT cut off here: do not use it.",
        Network::Bridge => "Network: the internet can be reached.",
        Network::Host => "Network: this machine's own.",
        other => return format!("Network: {other}."),
    }
    .to_owned()
}

fn limits(plan: &Plan) -> String {
    let limits = &plan.limits;
    let parts = [
        limits.timeout.map(|time| format!("{} per command", humantime::format_duration(time))),
        limits.memory.map(|memory| format!("{memory} of memory")),
        limits.cpus.map(|cpus| format!("{cpus} CPUs")),
        limits.pids.map(|pids| format!("{pids} processes")),
        Some(format!("{} in /tmp", limits.tmp_size)),
    ];
    format!("Limits: {}.", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn lasting(has: &Capabilities) -> String {
    if has.sessions {
        "Between commands /tmp and background processes last; variables and the working directory do not. \
         A command that is stopped takes everything it started with it."
    } else {
        "Every command has its own sandbox: between commands only the workspace lasts."
    }
    .to_owned()
}
