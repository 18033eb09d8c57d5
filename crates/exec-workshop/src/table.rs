//! Reads a table key by key, collecting mistakes. Pure.

use exec_config::tree::{Data, Fault, Member, Node, hint};

/// Takes the members of a table; members that are left over are mistakes.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    node: &'a Node,
    /// The prefix of its keys in messages, like `container.`.
    prefix: &'a str,
    known: Vec<&'static str>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(node: &'a Node, prefix: &'a str) -> Self {
        Self { node, prefix, known: Vec::new() }
    }

    /// Takes the member of this name.
    pub(crate) fn member(&mut self, name: &'static str) -> Option<&'a Member> {
        self.known.push(name);
        self.members().iter().find(|member| member.name == name)
    }

    /// Takes and converts the value of this name; a failed conversion is a mistake.
    pub(crate) fn take<T>(
        &mut self,
        name: &'static str,
        faults: &mut Vec<Fault>,
        read: impl FnOnce(&'a Node) -> Result<T, Fault>,
    ) -> Option<T> {
        let member = self.member(name)?;
        match read(&member.value) {
            Ok(value) => Some(value),
            Err(fault) => {
                faults.push(Fault::new(fault.at, format!("`{}{name}`: {}", self.prefix, fault.message)));
                None
            }
        }
    }

    /// Like `take`, but a missing value is a mistake.
    pub(crate) fn require<T>(
        &mut self,
        name: &'static str,
        faults: &mut Vec<Fault>,
        read: impl FnOnce(&'a Node) -> Result<T, Fault>,
    ) -> Option<T> {
        if self.member(name).is_none() && matches!(self.node.data, Data::Table(_)) {
            faults.push(Fault::new(self.node.at, format!("`{}{name}` is missing", self.prefix)));
            return None;
        }
        self.take(name, faults, read)
    }

    /// Reports a value that is not a table, unknown keys, and duplicates.
    pub(crate) fn finish(self, faults: &mut Vec<Fault>) {
        if !matches!(self.node.data, Data::Table(_)) {
            let what =
                if self.prefix.is_empty() { "the document" } else { self.prefix.trim_end_matches('.') };
            faults.push(Fault::new(self.node.at, format!("{what} is {}: write a table", self.node.kind())));
        }
        for (index, member) in self.members().iter().enumerate() {
            let name = &member.name;
            if !self.known.contains(&name.as_str()) {
                let message = format!(
                    "unknown key `{}{}`; {}",
                    self.prefix,
                    name.escape_debug(),
                    hint(name, &self.known)
                );
                faults.push(Fault::new(member.at, message));
            } else if self.members()[..index].iter().any(|other| other.name == *name) {
                faults.push(Fault::new(member.at, format!("`{}{name}` is given twice", self.prefix)));
            }
        }
    }

    fn members(&self) -> &'a [Member] {
        match &self.node.data {
            Data::Table(members) => members,
            _ => &[],
        }
    }
}
