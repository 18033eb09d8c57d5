//! `env`: variables for the command.

use std::ffi::{OsStr, OsString};

use super::kinds::list;
use super::prelude::*;
use crate::node::{Data, Member, Position};
use crate::read::{refuse_twice, text, wrong};

/// Variables for the command.
pub(crate) struct Env;

/// A variable for the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: OsString,
    /// Its value; without one, the caller's own value is passed on.
    pub value: Option<OsString>,
}

impl RunOption for Env {
    type Value = Vec<Variable>;

    const DOCS: Docs = Docs {
        name: "env",
        flag: "--env",
        short: Some('e'),
        value_name: "NAME[=VALUE]",
        heading: Heading::Environment,
        summary: "Set a variable; a name alone passes your own value on",
        details: "In a file: a table of names and values, or a list of NAME=VALUE and NAME. Variables of several files and of \
                  the command line add up. Of your other variables the command sees PATH, HOME, LANG, TERM and the like, \
                  nothing else.",
        example: "{\"RUST_BACKTRACE\": \"1\"}",
    };

    const SECTION: Option<SectionKey<Vec<Variable>>> = Some(SectionKey::same("env", "As `env`."));

    fn apply(settings: &mut Settings, variables: Vec<Variable>) {
        settings.env.extend(variables.into_iter().map(|variable| (variable.name, variable.value)));
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed("-")
    }

    /// A new variable or value is looser: variables choose what programs do, and a bare name passes on a secret.
    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        !after.env.iter().all(|(name, value)| before.env.get(name) == Some(value))
    }

    fn slot(variables: &Vec<Variable>) -> String {
        format!("env {}", list(variables.iter().map(|variable| variable.name.display())))
    }
}

impl OptionValue for Vec<Variable> {
    const ARITY: Arity = Arity::Many;

    /// Reads a table of names and values, or a list in which a bare name passes on the caller's value.
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        let found: Vec<(Variable, Position)> = match &node.data {
            Data::Table(members) => members.iter().map(member_variable).collect::<Result<_, _>>()?,
            Data::List(items) => {
                let item = |item: &Node| Ok((parsed(item, "NAME=VALUE or NAME", variable)?, item.at));
                items.iter().map(item).collect::<Result<_, _>>()?
            }
            _ => {
                let wanted = "a table of names and values, or a list, like [\"NAME=VALUE\", \"NAME\"]";
                return Err(wrong(node, wanted));
            }
        };
        refuse_twice(found.iter().map(|(variable, at)| (variable.name.as_os_str(), *at)))?;
        Ok(found.into_iter().map(|(variable, _)| variable).collect())
    }

    fn parse(word: &OsStr, _: &Base) -> Result<Self, String> {
        Variable::parse(word).map(|variable| vec![variable])
    }

    fn show(&self) -> String {
        list(self.iter().map(|variable| match &variable.value {
            Some(value) => format!("{}={}", variable.name.display(), value.display()),
            None => variable.name.display().to_string(),
        }))
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"anyOf": [
            {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
            {"type": "array", "items": {"type": "string", "pattern": "^[^=]+(=|$)"}},
        ]})
    }

    fn append(&mut self, more: Self) {
        self.extend(more);
    }

    fn parts(&self) -> Vec<Self> {
        self.iter().map(|variable| vec![variable.clone()]).collect()
    }
}

impl Variable {
    /// Splits `NAME=VALUE` at its first `=`; a word without one is a name alone.
    ///
    /// # Errors
    ///
    /// Fails without a name.
    pub fn parse(word: &OsStr) -> Result<Self, String> {
        let bytes = word.as_encoded_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
        if at == 0 {
            return Err(
                "a variable needs a name: write NAME=VALUE, or NAME to pass your own value on".to_owned()
            );
        }
        let part = |bytes: &[u8]| os_string(bytes);
        Ok(Self { name: part(&bytes[..at]), value: bytes.get(at + 1..).map(part) })
    }
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(bytes).to_owned()
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

fn member_variable(member: &Member) -> Result<(Variable, Position), Fault> {
    named(&member.name).map_err(|message| Fault::new(member.at, message))?;
    let wanted = "text; to pass your own value on, write a list, like [\"NAME\"]";
    let value = match &member.value.data {
        Data::Switch(on) => on.to_string(),
        _ => text(&member.value, wanted)?.to_owned(),
    };
    Ok((Variable { name: member.name.clone().into(), value: Some(value.into()) }, member.at))
}

fn variable(text: &str) -> Result<Variable, String> {
    named(text.split_once('=').map_or(text, |(name, _)| name))?;
    Variable::parse(OsStr::new(text))
}

fn named(name: &str) -> Result<(), String> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(format!("`{}` is not a name for a variable", name.escape_debug()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    /// R66: JSON and YAML tables can repeat a name, too.
    #[test]
    fn a_variable_is_given_once() {
        let read = |json: &str| Vec::<Variable>::read(&Format::Json.parse(json).unwrap(), &Base::default());
        for json in [r#"{"A": "1", "B": "1", "A": "2"}"#, r#"["A=1", "B", "A"]"#] {
            let fault = read(json).unwrap_err();
            assert_eq!(fault.message, "`A` is given twice");
            assert_ne!(fault.at, Position::START, "the position is that of the second");
        }
        assert!(read(r#"["A=1", "a=1"]"#).is_ok());
    }

    #[test]
    fn a_word_is_split_at_its_first_sign() {
        let parse = |word: &str| Variable::parse(OsStr::new(word));
        let variable = |name: &str, value: Option<&str>| {
            Ok(Variable { name: name.into(), value: value.map(OsString::from) })
        };
        assert_eq!(parse("A=b=c"), variable("A", Some("b=c")));
        assert_eq!(parse("A="), variable("A", Some("")));
        assert_eq!(parse("A"), variable("A", None));
        assert!(parse("=b").is_err() && parse("").is_err());
    }
}
