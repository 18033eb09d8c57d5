//! Converts a node to a value of one kind, or reports the mistake with its position.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use exec_core::{ByteSize, Limit, MountSpec, parse_duration};

use crate::fault::Fault;
use crate::node::{Data, Member, Node, Position};
use crate::setting::Variable;
use crate::values::{self, Words};

/// What paths in a document are relative to.
#[derive(Debug, Clone, Default)]
pub struct Base {
    /// The document's directory.
    pub directory: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl Base {
    /// A path of the host: `~/` is the user's home, and a relative path is relative to the document.
    fn resolve(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => self.directory.join(path),
        }
    }
}

fn wrong(node: &Node, wanted: &str) -> Fault {
    Fault::new(node.at, format!("this is {}: write {wanted}", node.kind()))
}

/// Text, or a number as written.
pub fn text<'a>(node: &'a Node, wanted: &str) -> Result<&'a str, Fault> {
    match &node.data {
        Data::Text(text) | Data::Number(text) => Ok(text),
        _ => Err(wrong(node, wanted)),
    }
}

/// Text that is parsed further.
pub fn parsed<T, E: ToString>(
    node: &Node,
    wanted: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Fault> {
    parse(text(node, wanted)?).map_err(|error| Fault::new(node.at, error.to_string()))
}

pub(crate) fn switch(node: &Node) -> Result<bool, Fault> {
    match node.data {
        Data::Switch(on) => Ok(on),
        _ => Err(wrong(node, "true or false")),
    }
}

pub(crate) fn word<T: Words>(node: &Node) -> Result<T, Fault> {
    parsed(node, "a word", T::from_word)
}

/// The name of an image.
pub fn image(node: &Node) -> Result<String, Fault> {
    match text(node, "the name of an image, like \"debian:13\"")? {
        "" => Err(Fault::new(node.at, "an image needs a name; leave the key out for the default")),
        name => Ok(name.to_owned()),
    }
}

/// A limit in bytes.
pub fn size(node: &Node) -> Result<Limit<ByteSize>, Fault> {
    parsed(node, "a size, like \"512m\"", values::limit)
}

pub(crate) fn count(node: &Node) -> Result<Limit<u32>, Fault> {
    parsed(node, "a whole number", values::count)
}

pub(crate) fn time(node: &Node) -> Result<Limit<Duration>, Fault> {
    parsed(node, "a time, like \"5m\"", values::time)
}

pub(crate) fn span(node: &Node) -> Result<Duration, Fault> {
    parsed(node, "a time, like \"5m\"", parse_duration)
}

/// The items of a list.
pub fn items<'a>(node: &'a Node, wanted: &str) -> Result<&'a [Node], Fault> {
    match &node.data {
        Data::List(items) => Ok(items),
        _ => Err(wrong(node, wanted)),
    }
}

/// Paths in the workspace.
pub(crate) fn paths(node: &Node) -> Result<Vec<PathBuf>, Fault> {
    let wanted = "a list of paths, like [\"target\"]";
    items(node, wanted)?.iter().map(|item| text(item, "a path").map(PathBuf::from)).collect()
}

/// A list of mounts, their sources relative to the document.
pub fn mounts(node: &Node, base: &Base) -> Result<Vec<MountSpec>, Fault> {
    let wanted = "a list of mounts, like [\"/srv/data:/data:ro\"]";
    items(node, wanted)?.iter().map(|item| mount(item, base)).collect()
}

fn mount(node: &Node, base: &Base) -> Result<MountSpec, Fault> {
    let spec: MountSpec = parsed(node, "a mount, like \"/srv/data:/data:ro\"", str::parse)?;
    Ok(MountSpec { source: base.resolve(&spec.source), ..spec })
}

/// A table of names and values, or a list as for `--env`, in which a bare name passes on the caller's value.
pub(crate) fn env(node: &Node) -> Result<Vec<Variable>, Fault> {
    let found: Vec<(Variable, Position)> = match &node.data {
        Data::Table(members) => members.iter().map(member_variable).collect::<Result<_, _>>()?,
        Data::List(items) => {
            let item = |item: &Node| Ok((parsed(item, "NAME=VALUE or NAME", variable)?, item.at));
            items.iter().map(item).collect::<Result<_, _>>()?
        }
        _ => {
            let wanted = "a table of names and values, or a list, like [\"NAME=VALUE\", \"NAME\"]";
            return Err(wrong(node, wanted));
        }
    };
    refuse_twice(found.iter().map(|(variable, at)| (variable.name.as_os_str(), *at)))?;
    Ok(found.into_iter().map(|(variable, _)| variable).collect())
}

fn member_variable(member: &Member) -> Result<(Variable, Position), Fault> {
    named(&member.name).map_err(|message| Fault::new(member.at, message))?;
    let wanted = "text; to pass your own value on, write a list, like [\"NAME\"]";
    let value = match &member.value.data {
        Data::Switch(on) => on.to_string(),
        _ => text(&member.value, wanted)?.to_owned(),
    };
    Ok((Variable { name: member.name.clone().into(), value: Some(value.into()) }, member.at))
}

/// Refuses a name given twice: neither takes precedence.
pub(crate) fn refuse_twice<'a>(names: impl IntoIterator<Item = (&'a OsStr, Position)>) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    match names.into_iter().find(|(name, _)| !seen.insert(*name)) {
        Some((name, at)) => Err(Fault::new(at, format!("`{}` is given twice", name.display()))),
        None => Ok(()),
    }
}

fn variable(text: &str) -> Result<Variable, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.into())),
        None => (text, None),
    };
    named(name)?;
    Ok(Variable { name: name.into(), value })
}

fn named(name: &str) -> Result<(), String> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(format!("`{}` is no name for a variable", name.escape_debug()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    #[test]
    fn paths_are_relative_to_the_document() {
        let base = Base { directory: "/project".into(), home: Some("/home/user".into()) };
        assert_eq!(base.resolve(Path::new("data")), Path::new("/project/data"));
        assert_eq!(base.resolve(Path::new("~/data")), Path::new("/home/user/data"));
        assert_eq!(base.resolve(Path::new("/data")), Path::new("/data"));
    }

    /// R66: JSON and YAML tables can repeat a name, too.
    #[test]
    fn a_variable_is_given_once() {
        for json in [r#"{"A": "1", "B": "1", "A": "2"}"#, r#"["A=1", "B", "A"]"#] {
            let fault = env(&Format::Json.parse(json).unwrap()).unwrap_err();
            assert_eq!(fault.message, "`A` is given twice");
            assert_ne!(fault.at, Position::START, "it is the second that is told");
        }
        assert!(env(&Format::Json.parse(r#"["A=1", "a=1"]"#).unwrap()).is_ok());
    }
}
