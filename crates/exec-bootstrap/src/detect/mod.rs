//! Detects what a project is made of: one file per language, each turning the tree into a part of the image.

mod go;
mod java;
mod node;
mod pin;
mod python;
mod ruby;
mod rust;

use exec_core::Result;

use crate::part::Part;
use crate::tree::Tree;

/// The files that make a directory a project.
pub(crate) const MANIFESTS: &[&str] = &[
    "go.mod",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "Pipfile",
    "setup.py",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "Gemfile",
];

/// Every language of the project, in the order of preference for the base image.
pub(crate) fn parts(tree: &Tree) -> Result<Vec<Part>> {
    let found = [
        ruby::detect(tree)?,
        python::detect(tree)?,
        node::detect(tree)?,
        rust::detect(tree)?,
        go::detect(tree)?,
        java::detect(tree)?,
    ];
    Ok(found.into_iter().flatten().collect())
}
