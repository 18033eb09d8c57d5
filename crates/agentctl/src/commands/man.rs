//! `agentctl man`: manual pages, made of the same words as `--help`.

use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;
use exec_core::{Error, ErrorKind, Result};

use crate::args::Cli;

/// Prints the page of agentctl itself, or writes all there are; returns what to exit with.
pub(crate) fn man(directory: Option<&Path>) -> Result<u8> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        Man::new(Cli::command()).render(&mut page).map_err(|error| not_written("memory", error))?;
        return super::print(&page);
    };
    clap_mangen::generate_to(Cli::command(), directory)
        .map_err(|error| not_written(&directory.to_string_lossy(), error))?;
    Ok(0)
}

fn not_written(to: &str, error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, "man", "can't write the manual pages")
        .with_context("to", to)
        .with_source(error)
        .with_remedy("name a directory that exists and that you may write")
}
