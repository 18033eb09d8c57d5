//! The same tree from all three formats, with positions.

use rstest::rstest;

use super::*;
use crate::node::Data;

const TOML: &str =
    "# a comment\nmemory = \"2g\"\npids = 5\nmounts = [\"/a\"]\n[executor.docker]\nreadonly = true\n";
const YAML: &str =
    "# a comment\nmemory: 2g\npids: 5\nmounts: ['/a']\nexecutor:\n  docker:\n    readonly: true\n";
const JSON: &str = "{ // a comment\n\"memory\": \"2g\",\n\"pids\": 5,\n\"mounts\": [\"/a\"],\n\"executor\": {\"docker\": {\"readonly\": true}},\n}";

/// A tree as sorted lines.
fn outline(node: &Node) -> Vec<String> {
    fn walk(node: &Node, path: &str, lines: &mut Vec<String>) {
        match &node.data {
            Data::Table(members) => {
                for member in members {
                    walk(&member.value, &format!("{path}.{}", member.name), lines);
                }
            }
            Data::List(items) => {
                for item in items {
                    walk(item, &format!("{path}[]"), lines);
                }
            }
            data => lines.push(format!("{path} {data:?}")),
        }
    }
    let mut lines = Vec::new();
    walk(node, "", &mut lines);
    lines.sort();
    lines
}

/// R61
#[rstest]
#[case(Format::Toml, TOML)]
#[case(Format::Yaml, YAML)]
#[case(Format::Json, JSON)]
fn one_tree_from_every_format(#[case] format: Format, #[case] text: &str) {
    let tree = format.parse(text).unwrap();
    let expected = [
        ".executor.docker.readonly Switch(true)",
        ".memory Text(\"2g\")",
        ".mounts[] Text(\"/a\")",
        ".pids Number(\"5\")",
    ];
    assert_eq!(outline(&tree), expected);
    let Data::Table(members) = tree.data else { panic!("no table") };
    let pids = members.iter().find(|member| member.name == "pids").unwrap();
    assert_eq!((pids.at.line, pids.at.column), (3, 1));
    assert_eq!(pids.value.at.line, 3);
}

/// R66
#[test]
fn what_is_none_is_told_with_its_place() {
    let texts = [
        (Format::Toml, "a = \nb = 1"),
        (Format::Toml, "a = 1\na = 2"),
        (Format::Yaml, "a: [1\nb: 2"),
        (Format::Yaml, "a: &x 1\nb: *x"),
        (Format::Yaml, "a: !!str 1"),
        (Format::Yaml, "a: 1\n---\nb: 1"),
        (Format::Yaml, "[a]: 1"),
        (Format::Json, "{\"a\": 1 \"b\": 2}"),
        (Format::Json, "{'a': 1}"),
        (Format::Json, "{} {}"),
    ];
    let messages = texts.map(|(format, text)| format!("{text:?}\n  {}\n", format.parse(text).unwrap_err()));
    insta::assert_snapshot!(messages.concat());
}

#[rstest]
#[case(Format::Toml)]
#[case(Format::Yaml)]
#[case(Format::Json)]
fn nothing_and_comments_are_an_empty_table(#[case] format: Format) {
    let comment = if format == Format::Json { "// x" } else { "# x" };
    for text in ["", "\n", comment] {
        assert_eq!(format.parse(text).unwrap().data, Data::Table(Vec::new()), "{text:?}");
    }
}

/// A38: parsing terminates on any input.
#[rstest]
#[case(Format::Toml, "a = ")]
#[case(Format::Yaml, "")]
#[case(Format::Json, "")]
fn depth_is_bounded(#[case] format: Format, #[case] prefix: &str) {
    assert!(format.parse(&format!("{prefix}{}", "[".repeat(100_000))).is_err());
    let closed = format!("{prefix}{}{}", "[".repeat(3000), "]".repeat(3000));
    assert!(format.parse(&closed).is_err());
}

#[test]
fn words_without_quotes_are_what_yaml_says() {
    assert_eq!(scalar("yes"), Data::Text("yes".into()));
    assert_eq!(scalar("1000:1000"), Data::Text("1000:1000".into()));
    assert_eq!(scalar("-1.5"), Data::Number("-1.5".into()));
    assert_eq!(scalar("inf"), Data::Text("inf".into()));
}
