//! What to do about a failure, as data.
//!
//! A library does not know its front end: a Rust orchestrator has no flags, and a model cannot change an option. So a
//! remedy names options and operations, and each front end spells them with [`Remedy::spelled`]. Its `Display` text
//! suits a reader of this library's documentation.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::IsolationLevel;

/// What to do about a failure: alternative steps, each of which helps, best first.
///
/// # Examples
///
/// ```
/// use exec_core::{Change, Remedy, Step};
///
/// let remedy = Remedy::host("end other programs").or(Change::raise("memory"));
/// assert_eq!(remedy.to_string(), "end other programs, or raise the option `memory`");
///
/// let on_a_command_line = remedy.spelled(|step| match step {
///     Step::Option(change) => format!("raise --{}", change.option()),
///     other => other.to_string(),
/// });
/// assert_eq!(on_a_command_line, "end other programs, or raise --memory");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    first: Option<String>,
    steps: Vec<Step>,
}

/// One way to solve the problem. Texts are clauses that begin with a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Correct the request, or the files it is about.
    Request(String),
    /// Repair something on this machine.
    Host(String),
    /// Repair something about the container engine.
    Engine(String),
    /// Use a container in place of this sandbox.
    Container,
    /// Change an option.
    Option(Change),
    /// Carry out one of our own operations.
    Operation(Operation),
}

/// A change of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    option: &'static str,
    direction: Direction,
    purpose: Option<String>,
}

/// How an option changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Direction {
    /// To a higher value.
    Raise,
    /// To a lower value.
    Lower,
    /// To this value; `None` turns a switch on, or leaves the value to the reader.
    Set(Option<String>),
    /// To its default.
    LeaveOut,
}

/// Something that this project itself can do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Remove what dead owners left behind.
    CollectGarbage,
    /// Generate a Dockerfile for the project.
    GenerateDockerfile,
    /// Kill a run, session or cell.
    Kill(String),
    /// Lift an emergency stop.
    Resume,
    /// List what runs.
    List,
    /// Find out why a sandbox does not work.
    Diagnose,
    /// Report a bug of ours.
    ReportBug,
    /// Look at what a run does, step by step.
    Trace,
    /// Look up the keys of a configuration file.
    DescribeConfiguration,
    /// Look up how to use something: `mcp`, `workshop`.
    Help(&'static str),
}

impl Remedy {
    /// A repair on this machine.
    pub fn host(text: impl Into<String>) -> Self {
        Step::Host(text.into()).into()
    }

    /// A repair of the container engine.
    pub fn engine(text: impl Into<String>) -> Self {
        Step::Engine(text.into()).into()
    }

    /// The remedy for isolation below the floor.
    pub fn weaker_floor(level: IsolationLevel) -> Self {
        Self::from("use a stronger sandbox")
            .or(Change::set("min_isolation", level).with_purpose("to lower the floor"))
    }

    /// A container in place of a sandbox that is too weak.
    pub fn container() -> Self {
        Step::Container.into()
    }

    /// A sandbox that can do what this one can't.
    pub fn another_sandbox() -> Self {
        Change::give("executor").with_purpose("for another sandbox").into()
    }

    /// The permission to mount places that no command should see.
    pub fn dangerous_mounts() -> Self {
        Change::give("allow_dangerous_mounts").with_purpose("if you mean it").into()
    }

    /// Adds alternatives. A preliminary step comes before all of them.
    #[must_use]
    pub fn or(mut self, other: impl Into<Self>) -> Self {
        let other = other.into();
        self.steps.extend(other.steps);
        self.first = self.first.or(other.first);
        self
    }

    /// Adds a preliminary step, before any of the others.
    #[must_use]
    pub fn after(self, first: impl Into<String>) -> Self {
        let first = match self.first {
            Some(second) => format!("{}; {second}", first.into()),
            None => first.into(),
        };
        Self { first: Some(first), ..self }
    }

    /// The alternatives, best first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The sentence, with each step in the words of a front end.
    pub fn spelled(&self, spell: impl Fn(&Step) -> String) -> String {
        let mut words: Vec<String> = self.steps.iter().map(spell).collect();
        let last = words.pop().unwrap_or_default();
        let steps = if words.is_empty() { last } else { format!("{}, or {last}", words.join(", ")) };
        match &self.first {
            Some(first) => format!("{first}; {steps}"),
            None => steps,
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(Step::to_string))
    }
}

/// Programs read the sentence too.
impl Serialize for Remedy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<Step> for Remedy {
    fn from(step: Step) -> Self {
        Self { first: None, steps: vec![step] }
    }
}

impl From<Change> for Remedy {
    fn from(change: Change) -> Self {
        Step::Option(change).into()
    }
}

impl From<Operation> for Remedy {
    fn from(operation: Operation) -> Self {
        Step::Operation(operation).into()
    }
}

/// A correction of the request.
impl From<&str> for Remedy {
    fn from(text: &str) -> Self {
        Step::Request(text.to_owned()).into()
    }
}

/// A correction of the request.
impl From<String> for Remedy {
    fn from(text: String) -> Self {
        Step::Request(text).into()
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(text) | Self::Host(text) | Self::Engine(text) => f.write_str(text),
            Self::Container => f.write_str("use a container"),
            Self::Option(change) => write!(f, "{change}"),
            Self::Operation(operation) => write!(f, "{operation}"),
        }
    }
}

impl Change {
    /// Raises the option with this configuration name.
    pub fn raise(option: &'static str) -> Self {
        Self::new(option, Direction::Raise)
    }

    /// Lowers it.
    pub fn lower(option: &'static str) -> Self {
        Self::new(option, Direction::Lower)
    }

    /// Sets it to this value.
    pub fn set(option: &'static str, value: impl fmt::Display) -> Self {
        Self::new(option, Direction::Set(Some(value.to_string())))
    }

    /// Turns on a switch, or sets a value that the reader chooses.
    pub fn give(option: &'static str) -> Self {
        Self::new(option, Direction::Set(None))
    }

    /// Leaves the option at its default.
    pub fn leave_out(option: &'static str) -> Self {
        Self::new(option, Direction::LeaveOut)
    }

    fn new(option: &'static str, direction: Direction) -> Self {
        Self { option, direction, purpose: None }
    }

    /// Ends the sentence: "to name another", "if you mean it".
    #[must_use]
    pub fn with_purpose(mut self, purpose: impl Into<String>) -> Self {
        self.purpose = Some(purpose.into());
        self
    }

    /// The option's configuration name, or its name in the call if no file can set it.
    pub fn option(&self) -> &'static str {
        self.option
    }

    /// How it changes.
    pub fn direction(&self) -> &Direction {
        &self.direction
    }

    /// Appends the purpose to a front end's words for the change.
    pub fn complete(&self, words: String) -> String {
        match &self.purpose {
            Some(purpose) => format!("{words} {purpose}"),
            None => words,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = format!("the option `{}`", self.option);
        let words = match &self.direction {
            Direction::Raise => format!("raise {option}"),
            Direction::Lower => format!("lower {option}"),
            Direction::Set(Some(value)) => format!("set {option} to `{value}`"),
            Direction::Set(None) => format!("set {option}"),
            Direction::LeaveOut => format!("leave out {option}"),
        };
        f.write_str(&self.complete(words))
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CollectGarbage => f.write_str("remove what dead owners left behind"),
            Self::GenerateDockerfile => f.write_str("generate a Dockerfile"),
            Self::Kill(name) => write!(f, "kill {name}"),
            Self::Resume => f.write_str("lift the emergency stop"),
            Self::List => f.write_str("list what runs"),
            Self::Diagnose => f.write_str("run the diagnosis"),
            Self::ReportBug => f.write_str("report it as a bug, with the result of the diagnosis"),
            Self::Trace => f.write_str("look at the events of a run"),
            Self::DescribeConfiguration => f.write_str("look up the keys in the configuration's schema"),
            Self::Help(topic) => write!(f, "look up how to use `{topic}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R42
    #[test]
    fn a_remedy_is_a_sentence_without_a_front_end() {
        let one = Remedy::from("name a directory");
        assert_eq!(one.to_string(), "name a directory");
        let three = Remedy::host("end other commands").or(Change::raise("pids")).or(Change::lower("memory"));
        assert_eq!(
            three.to_string(),
            "end other commands, raise the option `pids`, or lower the option `memory`"
        );
        let careful = Remedy::from(Operation::Resume).after("see that all is well");
        assert_eq!(careful.to_string(), "see that all is well; lift the emergency stop");
        assert_eq!(careful.after("wait").to_string(), "wait; see that all is well; lift the emergency stop");
        let purpose = Remedy::from(Change::give("image").with_purpose("to name another"));
        assert_eq!(purpose.to_string(), "set the option `image` to name another");
    }
}
