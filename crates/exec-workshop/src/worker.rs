//! A worker: who it is, what it may use and whom it may ask. Pure.

use std::collections::BTreeSet;

use exec_config::tree::{Data, Fault, Node, Position, text};
use exec_tools::Tool;

use crate::table::Table;

/// Somebody who works in a workshop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// What it may use.
    pub allowed: Allowed,
    /// The workers it may hand work to.
    pub delegates_to: Vec<String>,
    /// Where those are named, in the same order.
    pub(crate) delegates_at: Vec<Position>,
}

/// The tools a worker may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// Nothing is said, so that all are.
    All,
    /// These.
    Only {
        /// Of the built-in ones.
        tools: BTreeSet<Tool>,
        /// Names that are not ours; the agent that is the worker knows them.
        others: Vec<String>,
    },
}

impl Allowed {
    /// The built-in tools among them.
    pub fn tools(&self) -> BTreeSet<Tool> {
        match self {
            Self::All => Tool::ALL.into(),
            Self::Only { tools, .. } => tools.clone(),
        }
    }
}

/// What other programs call running a command.
const SHELLS: [&str; 3] = ["bash", "shell", "sh"];

/// Reads front matter, or a worker that is written in the workshop's own file. What is missing is a mistake and left empty, so
/// that the rest is looked at all the same.
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

/// A name that can be typed.
pub(crate) fn name(node: &Node) -> Result<String, Fault> {
    let text = text(node, "a name")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(plain) {
        let message = format!("`{}` is no name: use letters, digits, `-` and `_`", text.escape_debug());
        return Err(Fault::new(node.at, message));
    }
    Ok(text.to_owned())
}

/// A list, or words with commas between them.
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
            faults.push(Fault::new(at, format!("there is no tool `{word}`; did you mean `{near}`?")));
        } else {
            others.push(word);
        }
    }
    Allowed::Only { tools, others }
}
