//! Environment variables: ours, and those of the worker that agentctl replaces.

use std::ffi::OsString;

use exec_core::Result;

use crate::fault::invalid;
use crate::format::scalar;
use crate::layer::{Entry, Layer, Origin, Scope};
use crate::nearest::nearest;
use crate::node::{Node, Position};
use crate::options::{Described, OPTIONS, Sandbox, SandboxChoice, Setting, option};
use crate::read::Base;

/// The prefix of all our variables.
const PREFIX: &str = "AGENTCTL_";

/// Our variables that are not settings of a run: the program and engines under test, logging, the state directory, and
/// the token for clients of the HTTP server.
const NOT_SETTINGS: [&str; 7] = [
    "AGENTCTL_AUDIT",
    "AGENTCTL_AUDIT_FILE",
    "AGENTCTL_BIN",
    "AGENTCTL_ENGINES",
    "AGENTCTL_LOG",
    MCP_TOKEN_VARIABLE,
    "AGENTCTL_STATE_DIR",
];

/// The variable with the token of `agentctl mcp --http`.
pub const MCP_TOKEN_VARIABLE: &str = "AGENTCTL_MCP_TOKEN";

/// The variable that leaves containers out.
pub(crate) const ENABLE_DOCKER: &str = "ENABLE_DOCKER";

/// A variable of the worker sandbox, and how its value is read. `None` if the value has no effect.
struct WorkerVariable {
    name: &'static str,
    read: fn(&str) -> Result<Option<Setting>, String>,
}

const OF_THE_WORKER: [WorkerVariable; 4] = [
    // `true` asks for the default: the best sandbox available.
    WorkerVariable {
        name: ENABLE_DOCKER,
        read: |text| match text.to_ascii_lowercase().as_str() {
            "false" | "0" | "no" | "off" => {
                Ok(Some(Setting::of::<Sandbox>(SandboxChoice::WithoutContainers)))
            }
            "true" | "1" | "yes" | "on" => Ok(None),
            _ => Err(format!("`{text}` is neither true nor false")),
        },
    },
    WorkerVariable {
        name: "DOCKER_TIMEOUT",
        read: |text| match text.parse::<u64>() {
            Ok(milliseconds) => parse("timeout", &format!("{milliseconds}ms")),
            Err(_) => Err(format!("`{text}` is not a time: write milliseconds, like `300000`")),
        },
    },
    WorkerVariable { name: "DOCKER_MEMORY_LIMIT", read: |text| parse("memory", text) },
    WorkerVariable { name: "DOCKER_CPU_LIMIT", read: |text| parse("cpus", text) },
];

/// A value of an option, as the command line would take it.
fn parse(name: &str, text: &str) -> Result<Option<Setting>, String> {
    option(name).map(|option| option.parse(text.as_ref(), &Base::default())).transpose()
}

/// The settings from the environment.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    /// The worker's variables.
    pub(crate) worker: Layer,
    /// Ours, which take precedence.
    pub(crate) ours: Layer,
    pub(crate) warnings: Vec<String>,
}

/// Reads all variables. An empty variable counts as unset; all mistakes are reported at once.
pub(crate) fn read(variables: &[(OsString, OsString)], base: &Base) -> Result<Environment> {
    let mut found = Environment::default();
    let mut faults = Vec::new();
    for (name, value) in variables {
        let Some(name) = name.to_str() else { continue };
        let value = &*value.to_string_lossy();
        if value.is_empty() {
            continue;
        }
        let read = if let Some(known) = OF_THE_WORKER.iter().find(|known| known.name == name) {
            (known.read)(value).map(|setting| found.worker.extend(entry(known.name, setting)))
        } else if name.starts_with(PREFIX) && !NOT_SETTINGS.contains(&name) {
            ours(name, value, base, &mut found)
        } else {
            Ok(())
        };
        faults.extend(read.err().map(|message| format!("{name}: {message}")));
    }
    if faults.is_empty() {
        Ok(found)
    } else {
        Err(invalid(faults.join("\n")).with_remedy("correct the variable, or unset it"))
    }
}

fn ours(name: &str, value: &str, base: &Base, found: &mut Environment) -> Result<(), String> {
    let known = OPTIONS.iter().find(|option| option.variable().as_deref() == Some(name));
    let Some(option) = known else {
        found.warnings.push(unknown(name));
        return Ok(());
    };
    let node = Node { at: Position::START, data: scalar(value) };
    let setting = option.read(&node, base).map_err(|fault| fault.message)?;
    found.ours.extend(entry(name, Some(setting)));
    Ok(())
}

fn entry(name: &str, setting: Option<Setting>) -> Option<Entry> {
    setting.map(|setting| Entry {
        scope: Scope::Everywhere,
        setting,
        origin: Origin::Variable(name.to_owned()),
    })
}

fn unknown(name: &str) -> String {
    let known: Vec<String> = OPTIONS.iter().filter_map(Described::variable).collect();
    let meant = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}?"),
        None => "`agentctl config show` lists those there are".to_owned(),
    };
    format!("the variable {name} means nothing to agentctl; {meant}")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::backend::sample::BACKENDS;

    const BASE: fn() -> Base = || Base { backends: &BACKENDS, ..Base::default() };

    fn read_one(name: &str, value: &str) -> Result<Environment> {
        read(&[(name.into(), value.into())], &BASE())
    }

    /// R61
    #[rstest]
    #[case("AGENTCTL_SANDBOX", "docker", "executor = docker")]
    #[case("AGENTCTL_NETWORK", "bridge", "network = bridge")]
    #[case("AGENTCTL_PIDS", "7", "pids = 7")]
    #[case("AGENTCTL_NO_FALLBACK", "true", "no_fallback = true")]
    fn ours_are_settings(#[case] name: &str, #[case] value: &str, #[case] expected: &str) {
        assert_eq!(format!("{:?}", read_one(name, value).unwrap().ours[0].setting), expected);
    }

    /// R63
    #[rstest]
    #[case("ENABLE_DOCKER", "false", Some("executor = auto, without containers"))]
    #[case("ENABLE_DOCKER", "true", None)]
    #[case("DOCKER_TIMEOUT", "300000", Some("timeout = 5m"))]
    #[case("DOCKER_MEMORY_LIMIT", "512m", Some("memory = 512 MiB"))]
    #[case("DOCKER_CPU_LIMIT", "2.0", Some("cpus = 2"))]
    fn the_workers_are_settings_too(#[case] name: &str, #[case] value: &str, #[case] expected: Option<&str>) {
        let found = read_one(name, value).unwrap().worker;
        let shown = found.first().map(|entry| format!("{:?}", entry.setting));
        assert_eq!(shown.as_deref(), expected);
    }

    #[test]
    fn mistakes_name_their_variable_all_at_once() {
        let variables = [
            ("AGENTCTL_MEMORY", "512x"),
            ("AGENTCTL_CPUS", "-1"),
            ("AGENTCTL_SANDBOX", "dokcer"),
            ("AGENTCTL_NO_FALLBACK", "yes"),
            ("DOCKER_TIMEOUT", "5m"),
            ("ENABLE_DOCKER", "maybe"),
        ];
        let error = read(&variables.map(|(name, value)| (name.into(), value.into())), &BASE());
        insta::assert_snapshot!(error.unwrap_err());
    }

    #[test]
    fn what_means_nothing_is_told_and_what_is_empty_is_not_there() {
        assert_eq!(
            read_one("AGENTCTL_MEMROY", "1g").unwrap().warnings,
            ["the variable AGENTCTL_MEMROY means nothing to agentctl; did you mean AGENTCTL_MEMORY?"]
        );
        for known in NOT_SETTINGS {
            assert!(read_one(known, "/x").unwrap().warnings.is_empty(), "{known}");
        }
        assert!(read_one("AGENTCTL_MEMORY", "").unwrap().ours.is_empty());
    }
}
