//! The working directory: it exists, inside the workspace or a mount.

use std::path::{Component, Path, PathBuf};

use super::{PlannedMount, invalid};
use crate::{Change, Error, Remedy, Result};

pub(super) fn plan(workspace: &Path, mounts: &[&PlannedMount], asked: Option<&Path>) -> Result<PathBuf> {
    let Some(asked) = asked else { return Ok(workspace.to_owned()) };
    if asked.components().any(|part| part == Component::ParentDir) {
        return Err(invalid(format!("the working directory `{}` contains `..`", asked.display()))
            .with_remedy("write the path without `..`"));
    }
    if asked.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(
            invalid("the working directory contains a NUL byte").with_remedy("name a directory that exists")
        );
    }
    let inside: PathBuf = workspace.join(asked).components().collect();
    let outside = || {
        invalid(format!(
            "the working directory `{}` is outside the workspace and the mounts",
            asked.display()
        ))
        .with_context("workspace", workspace.display())
        .with_remedy(
            Remedy::from("name a directory inside").or(Change::give("mounts").with_purpose("to add it")),
        )
    };
    let mount = mounts.iter().rev().find(|mount| inside.starts_with(&mount.target)).ok_or_else(outside)?;
    let below = inside.strip_prefix(&mount.target).unwrap_or(Path::new(""));
    let on_host = mount.source.join(below);
    let real = on_host.canonicalize().map_err(|error| missing(asked, &error))?;
    if !mounts.iter().any(|mount| real.starts_with(&mount.source)) {
        return Err(outside().with_context("leads to", real.display()));
    }
    if !real.is_dir() {
        return Err(invalid(format!("the working directory `{}` is not a directory", asked.display()))
            .with_remedy("name a directory"));
    }
    Ok(inside)
}

fn missing(asked: &Path, error: &std::io::Error) -> Error {
    invalid(format!("the working directory `{}` can't be used: {error}", asked.display()))
        .with_remedy("create it first, or name one that exists")
}
