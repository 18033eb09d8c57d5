//! `agentctl config`: the settings in force, and the files they come from.

use std::path::{Path, PathBuf};

use exec_config::{Config, Existing, Row, Wanted, Whose};
use exec_core::{Error, ErrorKind, Machine, Result};
use serde::Serialize;

use crate::args::{ConfigArgs, ConfigCommand, InitArgs, ShowArgs};
use crate::backends::{self, here};
use crate::output::messages;
use crate::output::{Line, Voice, print, print_json, say, table};

/// Runs the command and returns its exit status.
pub(crate) fn config(args: ConfigArgs) -> Result<u8> {
    match args.command {
        ConfigCommand::Show(args) => show(args)?,
        ConfigCommand::Schema => printed(print_json(&exec_config::schema(backends::all())))?,
        ConfigCommand::Init(args) => init(&args)?,
        ConfigCommand::Check { file } => {
            let settings = exec_config::check(&here(), &file)?;
            printed(print(&format!("{}: {settings} settings, nothing wrong\n", file.display())))?;
        }
        ConfigCommand::Trust { file } => {
            for file in files(file)? {
                let trusted = exec_config::trust(&here(), &file)?;
                say(Voice::Person, &messages::trusted(&trusted.path, &trusted.loosens));
            }
        }
        ConfigCommand::Untrust { file } => {
            for file in files(file)? {
                say(Voice::Person, &messages::untrusted(&file, exec_config::untrust(&here(), &file)?));
            }
        }
    }
    Ok(0)
}

/// The object that `config show --json` prints.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    settings: &'a [Row],
    warnings: &'a [String],
}

fn show(args: ShowArgs) -> Result<()> {
    let workspace = args.workspace.unwrap_or_else(|| ".".into());
    let wanted = Wanted { workspace, file: args.config.config, flags: Vec::new() };
    let config = Config::load(&here(), wanted)?;
    let rows = config.rows(Machine::this());
    if args.json {
        return printed(print_json(&Shown { settings: &rows, warnings: config.warnings() }));
    }
    let line = |row: &Row| {
        let from =
            if row.counts { row.from.clone() } else { format!("{} (does not count: not trusted)", row.from) };
        [row.key.clone(), row.value.clone(), from]
    };
    printed(print(&table(&["KEY", "VALUE", "FROM"], rows.iter().map(line))))?;
    config.warnings().iter().for_each(|warning| say(Voice::Person, &Line::warn(warning)));
    Ok(())
}

fn init(args: &InitArgs) -> Result<()> {
    let whose = if args.user { Whose::User } else { Whose::Project(Path::new("")) };
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let path = exec_config::init(&here(), whose, args.format.format(), existing)?;
    say(Voice::Person, &messages::begun(&path));
    Ok(())
}

/// The named file, or those that a run here would read.
fn files(named: Option<PathBuf>) -> Result<Vec<PathBuf>> {
    if let Some(file) = named {
        return Ok(vec![file]);
    }
    let found = exec_config::project_files(&here(), Path::new("."))?;
    if found.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "config", "this project has no configuration file")
            .with_remedy("name one, or begin one with `agentctl config init`"));
    }
    Ok(found)
}

fn printed(outcome: std::io::Result<()>) -> Result<()> {
    match outcome {
        // A reader that closed the pipe gets no further output.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        outcome => {
            outcome.map_err(|error| Error::new(ErrorKind::Io, "print", "can't write").with_source(error))
        }
    }
}
