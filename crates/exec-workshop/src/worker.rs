//! A worker: its identity, its tools and its delegates. Pure.

use std::collections::BTreeSet;

use exec_config::tree::{Data, Fault, Node, Position, text};
use exec_tools::Tool;

use crate::table::Table;

/// A worker of a workshop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The tools it may use.
    pub allowed: Allowed,
    /// The workers it may delegate to.
    pub delegates_to: Vec<String>,
    /// The positions of their names, in the same order.
    pub(crate) delegates_at: Vec<Position>,
}

/// The tools a worker may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// Not restricted.
    All,
    /// Only these.
    Only {
        /// Built-in tools.
        tools: BTreeSet<Tool>,
        /// Other names, which only the worker's agent knows.
        others: Vec<String>,
    },
}

impl Allowed {
    /// The allowed built-in tools.
    pub fn tools(&self) -> BTreeSet<Tool> {
        match self {
            Self::All => Tool::ALL.into(),
            Self::Only { tools, .. } => tools.clone(),
        }
    }
}

/// Other programs' names for running a command.
const SHELLS: [&str; 3] = ["bash", "shell", "sh"];

/// Reads front matter, or a worker defined in the workshop's own file. A missing value is a mistake and becomes
/// empty, so that the rest is checked as well.
pub(crate) fn read(node: &Node, faults: &mut Vec<Fault>) -> Worker {
    let mut table = Table::new(node, "");
    let name = table.require("name", faults, name).unwrap_or_default();
    let description = table
        .require("description", faults, |node| text(node, "text").map(str::to_owned))
        .unwrap_or_default();
    let tools = table.take("allowed-tools", faults, words);
    let delegates = table.take("delegates-to", faults, words).unwrap_or_default();
    table.finish(faults);
    let allowed = tools.map_or(Allowed::All, |tools| allowed(tools, faults));
    let (delegates_to, delegates_at) = delegates.into_iter().unzip();
    Worker { name, description, allowed, delegates_to, delegates_at }
}

/// A name that is easy to type.
pub(crate) fn name(node: &Node) -> Result<String, Fault> {
    let text = text(node, "a name")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(plain) {
        let message =
            format!("`{}` is not a valid name: use letters, digits, `-` and `_`", text.escape_debug());
        return Err(Fault::new(node.at, message));
    }
    Ok(text.to_owned())
}

/// A list, or words separated by commas.
fn words(node: &Node) -> Result<Vec<(String, Position)>, Fault> {
    match &node.data {
        Data::List(items) => {
            items.iter().map(|item| text(item, "a name").map(|text| (text.to_owned(), item.at))).collect()
        }
        Data::Text(text) => {
            let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            Ok(words.map(|word| (word.to_owned(), node.at)).collect())
        }
        _ => Err(Fault::new(node.at, format!("this is {}: write a list of names", node.kind()))),
    }
}

fn allowed(words: Vec<(String, Position)>, faults: &mut Vec<Fault>) -> Allowed {
    let (mut tools, mut others) = (BTreeSet::new(), Vec::new());
    for (word, at) in words {
        let plain = word.split('(').next().unwrap_or_default().trim().to_ascii_lowercase();
        if let Ok(tool) = word.parse() {
            tools.insert(tool);
        } else if SHELLS.contains(&plain.as_str()) && word.contains('(') {
            let message = format!(
                "`{word}` would allow some commands and not others, which nothing here can hold a shell to; write \
                 `run_command` to allow commands, or leave it out"
            );
            faults.push(Fault::new(at, message));
        } else if SHELLS.contains(&plain.as_str()) {
            tools.insert(Tool::RunCommand);
        } else if let Some(near) = Tool::nearest(&word) {
            faults.push(Fault::new(at, format!("unknown tool `{word}`; did you mean `{near}`?")));
        } else {
            others.push(word);
        }
    }
    Allowed::Only { tools, others }
}
