//! `tmpfs` as engines' users write it. A cell has two such mounts, `/tmp` of any size and `/run` of 10 MiB; anything
//! else is refused.

use std::ffi::OsStr;

use exec_core::{ByteSize, Limit};
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::node::{Data, Node, Position};
use crate::read::{refuse_twice, text};

/// The size of `/run`.
const RUN_SIZE: ByteSize = ByteSize::mib(10);

/// Options that always apply.
const GIVEN: [&str; 4] = ["rw", "nosuid", "nodev", "mode=1777"];

const WANTED: &str = "a table like {\"/tmp\": \"1g\"}, or a list like [\"/tmp:size=1g\"]";

/// The size of `/tmp` that a value asks for.
pub(crate) fn size_of_tmp(node: &Node) -> Result<Limit<ByteSize>, Fault> {
    let mut tmp = Limit::Preset;
    let places = places(node)?;
    refuse_twice(places.iter().map(|(place, _, at)| (OsStr::new(place), *at)))?;
    for (place, options, at) in places {
        let size = size(&place, &options, at)?;
        match (place.as_str(), size) {
            ("/tmp", Some(size)) => tmp = Limit::Exactly(size),
            ("/tmp" | "/run", None) => {}
            ("/run", Some(size)) if size == RUN_SIZE => {}
            ("/run", Some(_)) => {
                return Err(Fault::new(
                    at,
                    format!("`/run` has {RUN_SIZE} and nothing else: leave its size out"),
                ));
            }
            _ => {
                let message = format!(
                    "no memory file system can be mounted at `{place}`: only `/tmp` and `/run` have one"
                );
                return Err(Fault::new(at, message));
            }
        }
    }
    Ok(tmp)
}

/// The JSON Schema of such a value.
pub(crate) fn schema() -> Value {
    let size = || json!({"type": ["string", "integer", "null"]});
    json!({"anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string", "pattern": "^/(tmp|run)(:|$)"}},
        {"type": "object", "properties": {"/tmp": size(), "/run": size()}, "additionalProperties": false},
    ]})
}

/// Each mount with its options.
fn places(node: &Node) -> Result<Vec<(String, String, Position)>, Fault> {
    let line = |node: &Node| {
        let (place, options) = text(node, WANTED).map(|text| text.split_once(':').unwrap_or((text, "")))?;
        Ok((place.to_owned(), options.to_owned(), node.at))
    };
    match &node.data {
        Data::Table(members) => members
            .iter()
            .map(|member| match member.value.data {
                Data::Null => Ok((member.name.clone(), String::new(), member.at)),
                _ => Ok((
                    member.name.clone(),
                    text(&member.value, "a size, like \"1g\"")?.to_owned(),
                    member.value.at,
                )),
            })
            .collect(),
        Data::List(items) => items.iter().map(line).collect(),
        _ => Ok(vec![line(node)?]),
    }
}

/// Accepts both `1g` and `size=1g,mode=1777`.
fn size(place: &str, options: &str, at: Position) -> Result<Option<ByteSize>, Fault> {
    let mut found = None;
    for option in options.split(',').filter(|option| !option.is_empty() && !GIVEN.contains(option)) {
        let size = option.strip_prefix("size=");
        if size.is_none() && !option.starts_with(|c: char| c.is_ascii_digit()) {
            let message = format!("`{option}` can't be had for `{place}`: only its size can be chosen");
            return Err(Fault::new(at, message));
        }
        let size = size.unwrap_or(option).parse::<ByteSize>();
        found = Some(size.map_err(|error| Fault::new(at, error.to_string()))?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::format::Format;

    fn read(json: &str) -> Result<Limit<ByteSize>, String> {
        size_of_tmp(&Format::Json.parse(json).unwrap()).map_err(|fault| fault.message)
    }

    /// R61
    #[rstest]
    #[case(r#"{"/tmp": "50m"}"#, Limit::Exactly(ByteSize::mib(50)))]
    #[case(r#"{"/tmp": "rw,size=50m,mode=1777", "/run": "10m"}"#, Limit::Exactly(ByteSize::mib(50)))]
    #[case(r#"["/tmp:size=1g", "/run"]"#, Limit::Exactly(ByteSize::gib(1)))]
    #[case(r#"["/tmp", "/run:rw"]"#, Limit::Preset)]
    #[case(r#""/tmp""#, Limit::Preset)]
    fn the_usual_shapes(#[case] json: &str, #[case] expected: Limit<ByteSize>) {
        assert_eq!(read(json), Ok(expected));
    }

    #[rstest]
    #[case(r#"["/var/cache"]"#, "only `/tmp` and `/run`")]
    #[case(r#"["/tmp:noexec"]"#, "`noexec` can't be had")]
    #[case(r#"{"/tmp": "512x"}"#, "`512x` is not a size")]
    #[case(r#"{"/run": "1g"}"#, "`/run` has 10 MiB")]
    #[case(r#"["/tmp", "/tmp:size=1g"]"#, "`/tmp` is given twice")]
    #[case(r#"{"/tmp": "1m", "/run": "10m", "/tmp": "1g"}"#, "`/tmp` is given twice")]
    #[case("true", "this is true or false: write a table")]
    fn what_cant_be_had(#[case] json: &str, #[case] says: &str) {
        let message = read(json).unwrap_err();
        assert!(message.contains(says), "{message}");
    }
}
