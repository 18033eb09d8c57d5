//! The list of tools.

use std::fmt;
use std::str::FromStr;

/// A tool by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// Runs a command to its end.
    RunCommand,
    /// Starts a background command.
    StartCommand,
    /// Reads the output of a background command.
    ReadOutput,
    /// Writes to a background command's input.
    WriteInput,
    /// Stops a background command.
    StopCommand,
    /// Describes the sandbox and its background commands.
    SandboxStatus,
}

impl Tool {
    /// All of them, the most important first.
    pub const ALL: [Self; 6] = [
        Self::RunCommand,
        Self::StartCommand,
        Self::ReadOutput,
        Self::WriteInput,
        Self::StopCommand,
        Self::SandboxStatus,
    ];

    /// Its name for models.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RunCommand => "run_command",
            Self::StartCommand => "start_command",
            Self::ReadOutput => "read_output",
            Self::WriteInput => "write_input",
            Self::StopCommand => "stop_command",
            Self::SandboxStatus => "sandbox_status",
        }
    }

    /// The tool whose name is closest to `word`.
    pub fn nearest(word: &str) -> Option<Self> {
        nearest(word, Self::ALL.map(Self::name)).and_then(|name| name.parse().ok())
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Tool {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|tool| tool.name() == word).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown tool `{word}`; the tools are {names}")
        })
    }
}

/// The closest of `names` to `word`.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.into_iter().map(|name| (strsim::jaro_winkler(word, name), name));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.75).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_typing_mistakes_are_understood() {
        for tool in Tool::ALL {
            assert_eq!(tool.name().parse(), Ok(tool));
        }
        assert_eq!(Tool::nearest("run_comand"), Some(Tool::RunCommand));
        assert_eq!(Tool::nearest("WebSearch"), None);
        assert!("bash".parse::<Tool>().unwrap_err().contains("run_command"));
    }
}
