//! Rules for single files that the project must have.

use super::Problem;
use super::files::SourceFile;

/// The two commands that every reader starts with.
const README_COMMANDS: &[&str] = &["cargo agentctl run -- echo hello", "cargo xtask test"];

/// The complete job of continuous integration.
const CI_COMMAND: &str = "cargo xtask test";

/// First words of lines in `.ci/run` that only prepare.
const PREPARING: &[&str] = &["#", "set ", "export ", "cd "];

type Rule = fn(&SourceFile) -> Vec<Problem>;

const RULES: &[(&str, Rule)] = &[
    (".ci/run", ci_runs_the_tests),
    ("README.md", readme_has_the_commands),
    ("CHANGELOG.md", changelog_is_open),
];

pub(super) fn check(files: &[SourceFile]) -> Vec<Problem> {
    let check_one = |&(path, rule): &(&str, Rule)| match files.iter().find(|file| file.path == path) {
        Some(file) => rule(file),
        None => vec![Problem::of(path, "is missing")],
    };
    RULES.iter().flat_map(check_one).collect()
}

/// A check that runs only in CI can't be run before pushing.
fn ci_runs_the_tests(file: &SourceFile) -> Vec<Problem> {
    let lines = file.text.lines().map(str::trim).filter(|line| !line.is_empty());
    let commands: Vec<_> =
        lines.filter(|line| !PREPARING.iter().any(|word| line.starts_with(word))).collect();
    if commands == [CI_COMMAND] {
        return Vec::new();
    }
    vec![Problem::of(&file.path, format!("runs exactly `{CI_COMMAND}`, not {commands:?}"))]
}

fn readme_has_the_commands(file: &SourceFile) -> Vec<Problem> {
    let absent = README_COMMANDS.iter().filter(|command| !file.text.contains(**command));
    absent.map(|command| Problem::of(&file.path, format!("does not show `{command}`"))).collect()
}

fn changelog_is_open(file: &SourceFile) -> Vec<Problem> {
    if file.text.lines().any(|line| line == "## [Unreleased]") {
        return Vec::new();
    }
    vec![Problem::of(&file.path, "has no section `## [Unreleased]`")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::sample::file;

    #[test]
    fn missing_files_are_named() {
        let paths: Vec<_> = check(&[]).into_iter().map(|problem| problem.path).collect();
        assert_eq!(paths, [".ci/run", "README.md", "CHANGELOG.md"]);
    }

    #[test]
    fn ci_runs_exactly_the_tests() {
        let good = "#!/usr/bin/env bash\nset -euo pipefail\nexport A=b\n\ncargo xtask test\n";
        assert!(ci_runs_the_tests(&file(".ci/run", good)).is_empty());
        for bad in ["", "cargo xtask test --fast\n", "cargo xtask test\ncargo audit\n"] {
            assert_eq!(ci_runs_the_tests(&file(".ci/run", bad)).len(), 1, "{bad}");
        }
    }

    #[test]
    fn the_readme_shows_both_commands() {
        let text = README_COMMANDS.join("\n");
        assert!(readme_has_the_commands(&file("README.md", text)).is_empty());
        assert_eq!(readme_has_the_commands(&file("README.md", "cargo xtask test")).len(), 1);
    }

    #[test]
    fn the_changelog_has_an_open_section() {
        assert!(changelog_is_open(&file("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n")).is_empty());
        assert_eq!(changelog_is_open(&file("CHANGELOG.md", "## [0.1.0]\n")).len(), 1);
    }
}
