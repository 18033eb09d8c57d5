//! The text of a new file: every key, explained and commented out.

use crate::format::Format;
use crate::options::{Described, OPTIONS};

const WIDTH: usize = 96;

const INTRODUCTION: &str = "How agentctl runs commands. Every key is optional; those below show what could be written. \
    An option of the command line wins over a variable (AGENTCTL_…), a variable over this file. \
    `agentctl config show` says what holds and where it comes from.";

/// The text of a new file.
pub(crate) fn template(format: Format) -> String {
    let mark = comment_mark(format);
    let mut lines = Vec::new();
    lines.extend(comment(INTRODUCTION, mark));
    if format == Format::Json {
        lines.push("{".to_owned());
    }
    for option in &OPTIONS {
        lines.push(String::new());
        lines.extend(comment(&option.about(), mark));
        lines.push(format!("{mark}{}", example(option, format)));
    }
    if format == Format::Json {
        lines.push("}".to_owned());
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The prefix of a commented-out line; removing it activates the line.
fn comment_mark(format: Format) -> &'static str {
    match format {
        Format::Toml | Format::Yaml => "#",
        Format::Json => "  //",
    }
}

fn example(option: &Described, format: Format) -> String {
    match format {
        Format::Toml => format!("{} = {}", option.name, option.example.replace("\": ", "\" = ")),
        Format::Yaml => format!("{}: {}", option.name, option.example),
        Format::Json => format!("\"{}\": {},", option.name, option.example),
    }
}

fn comment(text: &str, mark: &str) -> Vec<String> {
    let mut lines = vec![mark.to_owned()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < WIDTH => *line = format!("{line} {word}"),
            _ => lines.push(format!("{mark} {word}")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::document;
    use crate::read::Base;

    fn keys(text: &str, format: Format) -> Vec<&'static str> {
        let root = format.parse(text).unwrap();
        document::read(&root, &Base::default()).unwrap().iter().map(|placed| placed.setting.name()).collect()
    }

    /// R66
    #[rstest]
    #[case(Format::Toml)]
    #[case(Format::Yaml)]
    #[case(Format::Json)]
    fn it_says_nothing_until_something_is_uncommented(#[case] format: Format) {
        let text = template(format);
        assert!(keys(&text, format).is_empty());
        let mark = comment_mark(format);
        let uncommented: Vec<&str> = text
            .lines()
            .map(|line| line.strip_prefix(mark).filter(|rest| !rest.starts_with(' ')).unwrap_or(line))
            .collect();
        assert_eq!(keys(&uncommented.join("\n"), format).len(), OPTIONS.len());
    }

    #[test]
    fn it_reads_well() {
        insta::assert_snapshot!(template(Format::Toml));
    }
}
