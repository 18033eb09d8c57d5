//! Finds the project files that a Dockerfile names. In doubt, all of them. Pure.

/// The name of a git repository in its working tree.
pub(super) const REPOSITORY: &str = ".git";

/// The project files that a build reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sources {
    /// These paths, relative to the project's root.
    Some(Vec<String>),
    /// Possibly any file.
    All,
}

impl Sources {
    /// Whether a path in a repository is named.
    pub(super) fn name_repository(&self) -> bool {
        let is_in_one = |path: &String| path.split('/').any(|part| part == REPOSITORY);
        matches!(self, Self::Some(paths) if paths.iter().any(is_in_one))
    }
}

/// The files that this Dockerfile reads.
pub(super) fn sources(text: &str) -> Sources {
    if text.lines().take_while(|line| line.starts_with('#')).any(|line| line.contains("escape")) {
        return Sources::All;
    }
    let mut paths = Vec::new();
    for instruction in instructions(text) {
        match of_instruction(&instruction) {
            Some(more) => paths.extend(more),
            None => return Sources::All,
        }
    }
    paths.sort();
    paths.dedup();
    Sources::Some(paths)
}

/// The instructions, with continuation lines joined and comments removed. Neither comments nor empty lines end an
/// instruction.
fn instructions(text: &str) -> Vec<String> {
    let mut whole = Vec::new();
    let mut current = String::new();
    let is_nothing = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    for line in text.lines().filter(|line| !is_nothing(line)) {
        if let Some(part) = line.trim_end().strip_suffix('\\') {
            current.push_str(part);
        } else {
            current.push_str(line);
            whole.push(std::mem::take(&mut current));
        }
    }
    whole.push(current);
    whole
}

/// The paths that one instruction reads; `None` if unknown.
fn of_instruction(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match name.to_ascii_uppercase().as_str() {
        "COPY" | "ADD" => copied(rest.trim()),
        // A project file can be mounted too; that is the default type of a mount.
        "RUN" => rest.split_whitespace().all(is_harmless).then(Vec::new),
        "ONBUILD" => None,
        _ => Some(Vec::new()),
    }
}

fn is_harmless(word: &str) -> bool {
    let is_other = |kind: &str| word.contains(&format!("type={kind}"));
    !word.starts_with("--mount=") || ["cache", "tmpfs", "secret", "ssh"].into_iter().any(is_other)
}

fn copied(rest: &str) -> Option<Vec<String>> {
    let mut rest = rest;
    while let Some(flag) = rest.strip_prefix("--") {
        let (flag, others) = flag.split_once(char::is_whitespace)?;
        if flag.starts_with("from=") {
            return Some(Vec::new());
        }
        rest = others.trim_start();
    }
    let mut words: Vec<&str> = if rest.starts_with('[') {
        rest.trim_matches(['[', ']', ' ']).split(',').map(|word| word.trim().trim_matches('"')).collect()
    } else {
        rest.split_whitespace().collect()
    };
    words.pop()?;
    words.into_iter().map(path).collect()
}

/// A path without special characters, or `None`.
fn path(word: &str) -> Option<String> {
    let word = word.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
    let is_plain = !word.is_empty()
        && word != "."
        && !word.contains(['*', '?', '[', '$', '\\', '"', '\'', '<', ':'])
        && !word.split('/').any(|part| part == "..");
    is_plain.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// R76
    #[rstest]
    #[case("FROM x\nCOPY go.mod go.sum ./\nCOPY web/package.json web/\n", &["go.mod", "go.sum", "web/package.json"])]
    #[case("FROM x AS y\nCOPY --from=y /a /b\nCOPY --chown=1:1 ./src/ /src\n", &["src"])]
    #[case("FROM x\nCOPY [\"a\", \"b\", \"/c/\"]\n", &["a", "b"])]
    #[case("FROM x\nCOPY a \\\n  # why\n  b \\\n  /c/\n", &["a", "b"])]
    #[case("FROM x\nCOPY a \\\n\n  \n  b /c/\n", &["a", "b"])]
    #[case("FROM x\nCOPY .git/HEAD /\n", &[".git/HEAD"])]
    #[case("FROM x\nRUN --mount=type=cache,target=/c make\n", &[])]
    #[case("FROM x\n# COPY . .\nCMD [\"COPY\", \".\"]\n", &[])]
    fn what_is_copied_is_known(#[case] text: &str, #[case] paths: &[&str]) {
        assert_eq!(sources(text), Sources::Some(paths.iter().map(ToString::to_string).collect()));
    }

    /// R76: in doubt, everything counts.
    #[rstest]
    #[case("COPY . .")]
    #[case("COPY *.txt /")]
    #[case("ARG A\nCOPY $A /")]
    #[case("COPY ../x /")]
    #[case("copy ./ /x")]
    #[case("RUN --mount=type=bind,target=/x make")]
    #[case("RUN --mount=target=/x make")]
    #[case("ONBUILD COPY a b")]
    #[case("# escape=`\nCOPY a b")]
    #[case("COPY <<E /x\nE")]
    #[case("ADD https://example.test/x /x")]
    fn or_it_is_everything(#[case] text: &str) {
        assert_eq!(sources(text), Sources::All);
    }
}
