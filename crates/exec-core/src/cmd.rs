//! The command to run.

use std::ffi::{OsStr, OsString};
use std::fmt;

use crate::{Error, ErrorKind, Result};

/// A program and its arguments, passed on literally: no shell interprets them.
///
/// # Examples
///
/// ```
/// use exec_core::Cmd;
///
/// let cmd = Cmd::new("grep").args(["-rn", "a b", "src"]);
/// assert_eq!(cmd.to_string(), "grep -rn 'a b' src");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cmd {
    program: OsString,
    args: Vec<OsString>,
}

impl Cmd {
    /// A program without arguments, looked up in the cell's `PATH` unless it contains a slash.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), args: Vec::new() }
    }

    /// A script for the shell (`sh -c`).
    pub fn shell(script: impl Into<OsString>) -> Self {
        Self::new("sh").arg("-c").arg(script)
    }

    /// Builds a command from an argument vector.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the vector is empty.
    pub fn from_argv<I>(argv: I) -> Result<Self>
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let mut words = argv.into_iter().map(Into::into);
        let program = words.next().ok_or_else(|| {
            Error::new(ErrorKind::InvalidInput, "run", "no command was given")
                .with_remedy("name a program, like `echo hello`")
        })?;
        Ok(Self { program, args: words.collect() })
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The program.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Program and arguments.
    pub fn argv(&self) -> impl Iterator<Item = &OsStr> {
        std::iter::once(self.program.as_os_str()).chain(self.args.iter().map(OsString::as_os_str))
    }

    /// Refuses commands that no system can run: an empty program name, or a NUL byte anywhere.
    pub(crate) fn validate(&self) -> Result<()> {
        let invalid = |message: String| Error::new(ErrorKind::InvalidInput, "run", message);
        if self.program.is_empty() {
            return Err(invalid("the program's name is empty".into())
                .with_remedy("name a program, like `echo hello`"));
        }
        match self.argv().position(|word| word.as_encoded_bytes().contains(&0)) {
            None => Ok(()),
            Some(index) => Err(invalid(format!("argument {index} of `{self}` contains a NUL byte"))
                .with_remedy("pass such data through standard input or a file")),
        }
    }
}

/// Shows the command as typed in a shell, with special characters quoted.
impl fmt::Display for Cmd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.argv().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            let word = word.to_string_lossy();
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
            if !word.is_empty() && word.chars().all(plain) {
                f.write_str(&word)?;
            } else {
                write!(
                    f,
                    "'{}'",
                    word.escape_debug().to_string().replace('\'', r"'\''").replace("\\\"", "\"")
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_one_would_type() {
        assert_eq!(Cmd::shell("echo a b").to_string(), "sh -c 'echo a b'");
        assert_eq!(Cmd::new("echo").arg("").to_string(), "echo ''");
    }

    #[test]
    fn refuses_empty_and_nul() {
        assert!(Cmd::from_argv(Vec::<String>::new()).is_err());
        assert!(Cmd::new("").validate().is_err());
        assert!(Cmd::new("echo").arg("a\0b").validate().is_err());
        assert!(Cmd::new("echo").arg("--privileged").validate().is_ok());
    }
}
