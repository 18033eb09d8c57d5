//! Variables whose values stay out of logs and listings.

use std::ffi::{OsStr, OsString};

use exec_config::Variable;
use exec_core::{ExecOpts, Result};

use super::invalid;

/// What was typed with `--secret`, with the caller's own values filled in.
pub(super) struct Secrets(Vec<(OsString, OsString)>);

impl Secrets {
    /// Without a value in any error.
    pub(super) fn read(words: &[OsString], own: fn(&OsStr) -> Option<OsString>) -> Result<Self> {
        let pair = |word: &OsString| {
            let Variable { name, value } = Variable::parse(word).map_err(|_| nameless())?;
            let value = value.or_else(|| own(&name)).ok_or_else(|| nothing_to_pass_on(&name))?;
            Ok((name, value))
        };
        words.iter().map(pair).collect::<Result<_>>().map(Self)
    }

    /// Also over what is configured or given with `--env`.
    pub(super) fn apply_to(&self, opts: &mut ExecOpts) {
        for (name, value) in &self.0 {
            opts.secret_env.insert(name.clone());
            opts.env.insert(name.clone(), value.clone());
        }
    }
}

fn nameless() -> exec_core::Error {
    invalid("--secret: a variable needs a name")
        .with_remedy("write --secret NAME to pass your own value on, or --secret NAME=VALUE")
}

fn nothing_to_pass_on(name: &OsStr) -> exec_core::Error {
    let name = name.display();
    invalid(format!("--secret {name}: you have no variable `{name}` to pass on"))
        .with_remedy(format!("set and export it first, as in `read -rs {name}; export {name}`"))
}
