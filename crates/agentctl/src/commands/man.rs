//! `agentctl man`: manual pages, made from the texts of `--help`.

use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;
use exec_core::{Error, ErrorKind, Result};
use exec_files::Dir;

use crate::args::Cli;

/// Prints the page of agentctl itself, or writes all pages; returns the exit status.
pub(crate) fn man(directory: Option<&Path>) -> Result<u8> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        Man::new(Cli::command()).render(&mut page).map_err(|error| not_written("memory", error))?;
        return super::print(&page);
    };
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let written =
        directory.canonicalize().and_then(|real| Dir::open(&real)).and_then(|dir| write(&all, &dir));
    written.map_err(|error| not_written(&directory.to_string_lossy(), error)).map(|()| 0)
}

/// A page for each command, replacing any entry of that name: links are not followed.
fn write(command: &clap::Command, to: &Dir) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write(below, to)?;
    }
    let (page, mut text) = (Man::new(command.clone()), Vec::new());
    page.render(&mut text)?;
    to.replace(page.get_filename(), 0o666, &text)
}

fn not_written(to: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "man", "can't write the manual pages")
        .with_context("to", to)
        .with_source(error)
        .with_remedy("name a directory that exists and that you may write")
}
