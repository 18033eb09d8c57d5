//! The formats of manifests, and errors about broken ones.

use exec_core::{Error, ErrorKind, Result};

use crate::tree::Tree;

/// A TOML file; `None` if it does not exist.
pub(crate) fn toml(tree: &Tree, path: &str) -> Result<Option<toml::Table>> {
    let Some(text) = text(tree, path)? else { return Ok(None) };
    toml::from_str(text).map(Some).map_err(|error| broken(path, error.to_string().trim_end()))
}

/// A JSON file; `None` if it does not exist.
pub(crate) fn json(tree: &Tree, path: &str) -> Result<Option<serde_json::Value>> {
    let Some(text) = text(tree, path)? else { return Ok(None) };
    serde_json::from_str(text).map(Some).map_err(|error| broken(path, &error.to_string()))
}

/// The text of a file, refusing unresolved merge conflicts.
pub(crate) fn text<'a>(tree: &'a Tree, path: &str) -> Result<Option<&'a str>> {
    let text = tree.text(path)?;
    let conflict = text.and_then(|text| text.lines().position(|line| line.starts_with("<<<<<<< ")));
    match conflict {
        Some(line) => Err(broken(path, &format!("line {} begins an unresolved merge conflict", line + 1))),
        None => Ok(text),
    }
}

/// The first word of the first line that is not empty or a comment, as in files like `.nvmrc`.
pub(crate) fn single_word<'a>(tree: &'a Tree, path: &str) -> Result<Option<&'a str>> {
    let lines = text(tree, path)?.unwrap_or_default().lines();
    Ok(lines
        .map(|line| line.split('#').next().unwrap_or_default())
        .find_map(|line| line.split_whitespace().next()))
}

pub(crate) fn broken(path: &str, why: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, "bootstrap", format!("{path} is broken: {why}"))
        .with_remedy(format!("repair {path}, then try again"))
}

/// The content of the first such XML element outside of comments.
pub(crate) fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = xml;
    loop {
        let at = rest.find(&open)?;
        let Some(comment) = rest.find("<!--").filter(|comment| *comment < at) else {
            let content = &rest[at + open.len()..];
            return content.find(&close).map(|end| content[..end].trim());
        };
        rest = &rest[comment + rest[comment..].find("-->")?..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unresolved_merge_is_reported() {
        let tree = Tree::of_texts([("go.mod", "module x\n<<<<<<< HEAD\ngo 1.21\n")]);
        let error = text(&tree, "go.mod").unwrap_err();
        assert_eq!(error.to_string(), "go.mod is broken: line 2 begins an unresolved merge conflict");
    }

    #[test]
    fn elements_in_comments_do_not_count() {
        let xml = "<!-- <release>8</release> --><release> 17 </release>";
        assert_eq!(element(xml, "release"), Some("17"));
        assert_eq!(element(xml, "source"), None);
        assert_eq!(element("<!-- <a>", "a"), None);
    }
}
