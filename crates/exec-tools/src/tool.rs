//! The tools there are.

use std::fmt;
use std::str::FromStr;

/// A tool by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// Runs a command to its end.
    RunCommand,
    /// Starts one that goes on in the background.
    StartCommand,
    /// Reads what such a one has written.
    ReadOutput,
    /// Writes what it reads.
    WriteInput,
    /// Ends it.
    StopCommand,
    /// Says what is possible here and what runs.
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

    /// What a model calls it.
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

    /// The name that somebody who wrote `word` is likely to have meant.
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
            format!("there is no tool `{word}`; the tools are {names}")
        })
    }
}

/// Which of `names` somebody who wrote `word` is likely to have meant.
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
