//! Turns a document into settings. Unknown keys and values of the wrong kind are mistakes, and all of them are
//! reported.

use std::collections::BTreeSet;

use crate::fault::Fault;
use crate::key::{ELSEWHERE, KEYS, SECTION_KEYS, sandbox};
use crate::layer::{Engine, Scope};
use crate::nearest::hint;
use crate::node::{Data, Member, Node, Position};
use crate::read::Base;
use crate::setting::Setting;

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
                "executor" if matches!(member.value.data, Data::Table(_)) => self.executor(&member.value),
                // Tells editors which schema describes the document.
                "$schema" => {}
                "allow_hosts" => self.allow_hosts(member, root),
                name => match KEYS.iter().find(|key| key.name == name) {
                    Some(key) => self.take(Scope::Everywhere, name, member, key.read),
                    None => self.unknown_at_the_top(member),
                },
            }
        }
    }

    fn executor(&mut self, table: &Node) {
        for member in self.members(table, "`executor`") {
            let engine = Engine::ALL.into_iter().find(|engine| engine.name() == member.name);
            match (member.name.as_str(), engine) {
                (_, Some(engine)) => self.section(engine, &member.value),
                ("type", _) => self.take(Scope::Everywhere, "executor.type", member, sandbox),
                (name, _) => {
                    let known = ["type", "docker", "podman", "local"];
                    self.unknown(member.at, &format!("executor.{name}"), name, &known);
                }
            }
        }
    }

    fn section(&mut self, engine: Engine, table: &Node) {
        let keys = || SECTION_KEYS.iter().filter(|key| engine.has_images() || key.name != "image");
        for member in self.members(table, &format!("`executor.{engine}`")) {
            let name = format!("executor.{engine}.{}", member.name);
            if let Some(key) = keys().find(|key| key.name == member.name) {
                self.take(Scope::On(engine), &name, member, key.read);
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
        read: fn(&Node, &Base) -> Result<Setting, Fault>,
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
        if let Some((name, instead)) = ELSEWHERE.iter().find(|(name, _)| *name == member.name) {
            self.faults.push(Fault::new(member.at, format!("`{name}` is no key: {instead}")));
        } else {
            let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            self.unknown(member.at, &member.name, &member.name, &known);
        }
    }

    fn unknown(&mut self, at: Position, full: &str, name: &str, known: &[&str]) {
        let message = format!("there is no key `{}`; {}", full.escape_debug(), hint(name, known));
        self.faults.push(Fault::new(at, message));
    }
}
