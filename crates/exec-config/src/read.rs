//! Converts a node to a value, or reports the mistake with its position.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::backend::Backend;
use crate::fault::Fault;
use crate::node::{Data, Node, Position};

/// What the words of a document can refer to.
#[derive(Debug, Clone, Default)]
pub struct Base {
    /// The document's directory.
    pub directory: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The backends that can be named.
    pub backends: &'static [Backend],
}

impl Base {
    /// A path of the host: `~/` is the user's home, and a relative path is relative to the document.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => self.directory.join(path),
        }
    }
}

pub(crate) fn wrong(node: &Node, wanted: &str) -> Fault {
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

/// The items of a list.
pub fn items<'a>(node: &'a Node, wanted: &str) -> Result<&'a [Node], Fault> {
    match &node.data {
        Data::List(items) => Ok(items),
        _ => Err(wrong(node, wanted)),
    }
}

/// Refuses a name given twice: neither takes precedence.
pub(crate) fn refuse_twice<'a>(names: impl IntoIterator<Item = (&'a OsStr, Position)>) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    match names.into_iter().find(|(name, _)| !seen.insert(*name)) {
        Some((name, at)) => Err(Fault::new(at, format!("`{}` is given twice", name.display()))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_document() {
        let base = Base { directory: "/project".into(), home: Some("/home/user".into()), ..Base::default() };
        assert_eq!(base.resolve(Path::new("data")), Path::new("/project/data"));
        assert_eq!(base.resolve(Path::new("~/data")), Path::new("/home/user/data"));
        assert_eq!(base.resolve(Path::new("/data")), Path::new("/data"));
    }
}
