//! Turns a document into settings. Unknown keys and values of the wrong kind are mistakes, and all of them are
//! reported.

use std::collections::BTreeSet;

use crate::backend::Backend;
use crate::fault::Fault;
use crate::layer::Scope;
use crate::nearest::hint;
use crate::node::{Data, Member, Node, Position};
use crate::options::{OPTIONS, OptionValue, RunOption, Sandbox, Setting, option};
use crate::read::Base;

/// Keys that users expect in a document but that live elsewhere, with what to write instead.
const ELSEWHERE: [(&str, &str); 5] = [
    ("sandbox", "in a file it is called `executor`"),
    ("allow_dangerous_mounts", "it is an option of the call that needs it"),
    ("workspace", "it is an option of each call"),
    ("cwd", "it is an option of each call"),
    ("limits", "limits stand at the top: `memory`, `cpus`, `pids`, `timeout` …"),
];

/// A setting, its scope and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) scope: Scope,
    pub(crate) setting: Setting,
    pub(crate) at: Position,
}

/// All settings of a document, or all its mistakes.
pub(crate) fn read(root: &Node, base: &Base) -> Result<Vec<Placed>, Vec<Fault>> {
    let mut reader = Reader { base, settings: Vec::new(), faults: Vec::new() };
    reader.document(root);
    if reader.faults.is_empty() { Ok(reader.settings) } else { Err(reader.faults) }
}

struct Reader<'a> {
    base: &'a Base,
    settings: Vec<Placed>,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn document(&mut self, root: &Node) {
        for member in self.members(root, "the document") {
            match member.name.as_str() {
                name if name == Sandbox::DOCS.name && matches!(member.value.data, Data::Table(_)) => {
                    self.executor(&member.value);
                }
                // Tells editors which schema describes the document.
                "$schema" => {}
                "allow_hosts" => self.allow_hosts(member, root),
                name => match option(name) {
                    Some(option) => {
                        self.take(Scope::Everywhere, name, member, |node, base| option.read(node, base));
                    }
                    None => self.unknown_at_the_top(member),
                },
            }
        }
    }

    fn executor(&mut self, table: &Node) {
        for member in self.members(table, "`executor`") {
            let backend = self.base.backends.iter().find(|backend| backend.name == member.name);
            match (member.name.as_str(), backend) {
                (_, Some(backend)) => self.section(&backend.clone(), &member.value),
                ("type", _) => self.take(Scope::Everywhere, "executor.type", member, |node, base| {
                    OptionValue::read(node, base).map(Setting::of::<Sandbox>)
                }),
                (name, _) => {
                    let names = self.base.backends.iter().map(|backend| backend.name);
                    let known: Vec<&str> = std::iter::once("type").chain(names).collect();
                    self.unknown(member.at, &format!("executor.{name}"), name, &known);
                }
            }
        }
    }

    fn section(&mut self, backend: &Backend, table: &Node) {
        let keys = || {
            let keys = OPTIONS.iter().filter_map(|option| option.section.as_ref());
            keys.filter(|key| backend.has_images || !key.needs_images)
        };
        for member in self.members(table, &format!("`executor.{}`", backend.name)) {
            let name = format!("executor.{}.{}", backend.name, member.name);
            if let Some(key) = keys().find(|key| key.name == member.name) {
                self.take(Scope::On(backend.name), &name, member, key.read);
            } else {
                let known: Vec<&str> = keys().map(|key| key.name).collect();
                self.unknown(member.at, &name, &member.name, &known);
            }
        }
    }

    /// The members of a table, each name once.
    fn members<'n>(&mut self, node: &'n Node, what: &str) -> Vec<&'n Member> {
        let Data::Table(members) = &node.data else {
            self.faults.push(Fault::new(node.at, format!("{what} is {}: write a table", node.kind())));
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        let (first, again): (Vec<_>, Vec<_>) =
            members.iter().partition(|member| seen.insert(member.name.as_str()));
        let twice = |member: &Member| Fault::new(member.at, format!("`{}` is given twice", member.name));
        self.faults.extend(again.into_iter().map(twice));
        first
    }

    fn take(
        &mut self,
        scope: Scope,
        name: &str,
        member: &Member,
        read: impl FnOnce(&Node, &Base) -> Result<Setting, Fault>,
    ) {
        match read(&member.value, self.base) {
            Ok(setting) => self.settings.push(Placed { scope, setting, at: member.at }),
            Err(fault) => self.faults.push(Fault::new(fault.at, format!("`{name}`: {}", fault.message))),
        }
    }

    /// `allow_hosts` is a known key only to be refused: ignoring it would suggest a restriction that is not enforced.
    fn allow_hosts(&mut self, member: &Member, root: &Node) {
        let Data::Table(members) = &root.data else { return };
        let message = match members.iter().find(|other| other.name == "network") {
            Some(network) => format!(
                "`allow_hosts` and `network` (line {}) contradict each other: hosts can't be allowed one by one in a \
                 network that is chosen as a whole",
                network.at.line
            ),
            None => "`allow_hosts` is not built into this version: leave it out; the network is `none`, `bridge` or \
                     `host`"
                .to_owned(),
        };
        self.faults.push(Fault::new(member.at, message));
    }

    fn unknown_at_the_top(&mut self, member: &Member) {
        let name = member.name.as_str();
        let elsewhere =
            ELSEWHERE.iter().find(|(known, _)| *known == name).map(|(_, instead)| (*instead).to_owned());
        let is_backend = self.base.backends.iter().any(|backend| backend.name == name);
        let section = is_backend.then(|| format!("it belongs into `executor`: `executor.{name}`"));
        if let Some(instead) = elsewhere.or(section) {
            self.faults.push(Fault::new(member.at, format!("`{name}` is not a key: {instead}")));
        } else {
            let known: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
            self.unknown(member.at, name, name, &known);
        }
    }

    fn unknown(&mut self, at: Position, full: &str, name: &str, known: &[&str]) {
        let message = format!("unknown key `{}`; {}", full.escape_debug(), hint(name, known));
        self.faults.push(Fault::new(at, message));
    }
}
