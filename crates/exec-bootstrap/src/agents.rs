//! Coding agents' CLIs that an image can include. They bring their own Node, independent of the project's toolchain
//! and not on its PATH.

use std::fmt;
use std::str::FromStr;

use crate::plan::Family;
use crate::reason::Reason;

/// Where they are installed.
const PLACE: &str = "/opt/agents";

/// A supported CLI.
struct Known {
    /// The name of the program.
    program: &'static str,
    package: &'static str,
    version: &'static str,
}

/// The default versions; another can be requested.
const KNOWN: [Known; 3] = [
    Known { program: "claude", package: "@anthropic-ai/claude-code", version: "2.1.280" },
    Known { program: "codex", package: "@openai/codex", version: "0.153.3" },
    Known { program: "gemini", package: "@google/gemini-cli", version: "0.61.0" },
];

/// An agent's CLI at a version, written like `claude` or `claude@2.1.280`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentCli {
    program: &'static str,
    package: &'static str,
    version: String,
}

impl FromStr for AgentCli {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) =
            text.split_once('@').map_or((text, None), |(name, version)| (name, Some(version)));
        let Some(known) = KNOWN.iter().find(|known| known.program == name) else {
            let names = KNOWN.map(|known| known.program).join(", ");
            return Err(format!("`{name}` is not a known agent: use one of {names}"));
        };
        let version = version.unwrap_or(known.version);
        if !is_exact(version) {
            return Err(format!(
                "`{version}` is not an exact version: write it like {name}@{}",
                known.version
            ));
        }
        Ok(Self { program: known.program, package: known.package, version: version.to_owned() })
    }
}

/// Three numbers and an optional pre-release. Anything else is refused, because the version becomes part of a
/// command.
fn is_exact(version: &str) -> bool {
    let (numbers, rest) = version.split_once('-').unwrap_or((version, "x"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.split('.').filter(|number| is_number(number)).count() == 3
        && numbers.split('.').count() == 3
        && !rest.is_empty()
        && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-')
}

impl fmt::Display for AgentCli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.program, self.version)
    }
}

impl AgentCli {
    /// The image that provides their Node.
    pub(crate) fn node(family: Family) -> &'static str {
        match family {
            Family::Debian => "node:24-bookworm",
            Family::Alpine => "node:24-alpine",
        }
    }

    pub(crate) fn reason(&self) -> Reason {
        let what = format!("{} {}", self.program, self.version);
        Reason::new(what, format!("--with-cli names it; {} from npm, with its own Node", self.package))
    }
}

/// Copies Node from its image.
pub(crate) fn copies(node: &str) -> [String; 2] {
    [
        format!("COPY --from={node} /usr/local/bin/node {PLACE}/bin/node"),
        format!("COPY --from={node} /usr/local/lib/node_modules/npm {PLACE}/lib/node_modules/npm"),
    ]
}

/// Installs them. Scripts find Node through their first line, which would otherwise select the project's.
pub(crate) fn commands<'a>(agents: impl IntoIterator<Item = &'a AgentCli>) -> Vec<String> {
    let agents: Vec<&AgentCli> = agents.into_iter().collect();
    let packages: Vec<String> =
        agents.iter().map(|agent| format!("{}@{}", agent.package, agent.version)).collect();
    let npm = format!("{PLACE}/lib/node_modules/npm/bin/npm-cli.js");
    let install = format!(
        "PATH={PLACE}/bin:$PATH {PLACE}/bin/node {npm} install --global --prefix {PLACE} {}",
        packages.join(" ")
    );
    let finish = agents.iter().flat_map(|agent| {
        let program = format!("{PLACE}/bin/{}", agent.program);
        let own_node = format!(
            "sed -i '1s|^#!/usr/bin/env \\(-S \\)*node|#!{PLACE}/bin/node|' \"$(readlink -f {program})\""
        );
        [
            format!("if [ \"$(head -c 2 {program})\" = '#!' ]; then {own_node}; fi"),
            format!("ln -s {program} /usr/local/bin/{}", agent.program),
        ]
    });
    std::iter::once(install).chain(finish).collect()
}

/// Keeps a pinned version pinned.
pub(crate) const ENV: [(&str, &str); 1] = [("DISABLE_AUTOUPDATER", "1")];

/// npm's download cache.
pub(crate) const CACHE: &str = "/root/.npm";

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// R75
    #[rstest]
    #[case("claude", "claude@2.1.280")]
    #[case("codex@0.150.0", "codex@0.150.0")]
    #[case("gemini@1.0.0-preview.3", "gemini@1.0.0-preview.3")]
    fn an_agent_has_a_version(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(text.parse::<AgentCli>().unwrap().to_string(), shown);
    }

    /// R75: only an exact version is accepted, and no text that would become part of a command.
    #[rstest]
    #[case("cursor")]
    #[case("claude@latest")]
    #[case("claude@^2.0.0")]
    #[case("claude@2")]
    #[case("claude@1.2.3;id")]
    #[case("claude@1.2.3-")]
    #[case("claude@")]
    #[case("")]
    fn other_names_are_refused(#[case] text: &str) {
        assert!(text.parse::<AgentCli>().is_err());
    }
}
