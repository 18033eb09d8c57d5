//! A planned command in an engine's terms, which are text. Pure.

use std::ffi::OsStr;

use exec_core::{ByteSize, Error, ErrorKind, Plan, Result, Stdin};

use crate::engine::Input;
use crate::spec::text as path_text;

/// What a container is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// As `NAME=value`; a name alone takes a variable away.
    pub(super) env: Vec<String>,
    pub(super) cwd: String,
    pub(super) input: Input,
    pub(super) open_files: Option<u64>,
    pub(super) file_size: Option<u64>,
}

/// A variable that engines add by themselves.
const ADDED: &str = "HOSTNAME";

impl Command {
    pub(super) fn of(plan: &Plan) -> Result<Self> {
        let mut argv = plan.argv.iter().map(|word| text(word, "an argument"));
        let program = argv.next().transpose()?.unwrap_or_default();
        let mut env = Vec::new();
        for (name, value) in &plan.env {
            env.push(format!("{}={}", text(name, "a variable")?, text(value, "a variable")?));
        }
        if !plan.env.contains_key(OsStr::new(ADDED)) {
            env.push(ADDED.to_owned());
        }
        Ok(Self {
            program,
            arguments: argv.collect::<Result<_>>()?,
            env,
            cwd: path_text(&plan.cwd)?.to_owned(),
            input: if matches!(plan.stdin, Stdin::Empty) { Input::None } else { Input::Open },
            open_files: plan.limits.open_files.map(u64::from),
            file_size: plan.limits.file_size.map(ByteSize::get),
        })
    }
}

fn text(word: &OsStr, what: &str) -> Result<String> {
    word.to_str().map(str::to_owned).ok_or_else(|| {
        let shown = word.to_string_lossy();
        Error::new(
            ErrorKind::Unsupported,
            "start",
            format!("{what} can't be told to a container engine: `{shown}` is not UTF-8"),
        )
        .with_remedy("pass such data through standard input or a file, or use --sandbox local")
    })
}

#[cfg(test)]
mod tests {
    use exec_core::{Cmd, ExecOpts, OwnPlaces};

    use super::*;

    fn plan(cmd: &Cmd, opts: &ExecOpts) -> Plan {
        Plan::resolve(
            cmd,
            opts,
            [("LANG".into(), "C".into()), ("PATH".into(), "/bin".into())],
            &OwnPlaces::default(),
        )
        .unwrap()
    }

    fn opts() -> ExecOpts {
        ExecOpts::in_workspace(std::env::temp_dir())
    }

    /// R2: what an engine would add is taken away, unless the caller wants it.
    #[test]
    fn the_environment_is_the_callers_and_nothing_else() {
        let bare = Command::of(&plan(&Cmd::new("x"), &opts())).unwrap();
        assert_eq!(bare.env, ["LANG=C", "PATH=/bin", "HOSTNAME"]);
        let named = Command::of(&plan(&Cmd::new("x"), &opts().with_env("HOSTNAME", "me"))).unwrap();
        assert_eq!(named.env, ["HOSTNAME=me", "LANG=C", "PATH=/bin"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_text_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let odd = OsStr::from_bytes(b"\xff");
        for plan in [plan(&Cmd::new("x").arg(odd), &opts()), plan(&Cmd::new("x"), &opts().with_env("X", odd))]
        {
            let error = Command::of(&plan).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        }
    }
}
