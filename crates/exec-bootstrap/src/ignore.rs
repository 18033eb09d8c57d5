//! `.dockerignore`: what git ignores, in Docker's syntax, and secrets in any case.

use std::collections::BTreeSet;

use exec_core::Result;

use crate::document;
use crate::plan::Scope;
use crate::tree::{Tree, directory, join};

/// Never part of a build, whatever else the file says. The exceptions are meant to be shared.
const SECRETS: &[&str] = &[
    "**/.env",
    "**/.env.*",
    "!**/.env.example",
    "!**/.env.sample",
    "!**/.env.template",
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/*.pfx",
    "**/*.jks",
    "**/*.keystore",
    "**/id_rsa*",
    "**/id_ecdsa*",
    "**/id_ed25519*",
    "**/.aws",
    "**/.azure",
    "**/.gnupg",
    "**/.kube",
    "**/.ssh",
    "**/.docker",
    "**/.netrc",
    "**/.pypirc",
    "**/.pgpass",
    "**/.git-credentials",
    "**/.cargo/credentials*",
    "**/.config/gcloud",
    "**/*credentials*.json",
    "**/*service-account*.json",
    "**/secrets.y*ml",
    "**/*.tfstate*",
    "**/config/master.key",
];

/// Large, generated, or not needed by a build.
const USELESS: &[&str] = &[
    "**/.git",
    "**/.hg",
    "**/.svn",
    "**/node_modules",
    "**/.venv",
    "**/__pycache__",
    "**/.DS_Store",
    "Dockerfile*",
    ".dockerignore",
];

/// Added by `--compose`: changing these files does not change the application, and secrets are mounted.
const COMPOSE: &[&str] =
    &["/config", "/secrets", "docker-compose*.yml", "scripts/docker-*.sh", "scripts/emergency-stop.sh"];

/// The lines of the file. `copied` lists what the build needs even if git ignores it.
pub(crate) fn lines<'a>(
    tree: &Tree,
    scope: Scope,
    copied: impl IntoIterator<Item = &'a String>,
) -> Result<Vec<String>> {
    let mut lines = vec!["# Of no use to a build.".to_owned()];
    lines.extend(USELESS.iter().map(ToString::to_string));
    if scope == Scope::Compose {
        lines.extend([String::new(), "# Mounted, or not part of the application.".to_owned()]);
        lines.extend(COMPOSE.iter().map(ToString::to_string));
    }
    for path in tree.named(".gitignore") {
        let text = document::text(tree, path)?.unwrap_or_default();
        let patterns: Vec<String> = text.lines().filter_map(|line| pattern(directory(path), line)).collect();
        if !patterns.is_empty() {
            lines.extend([String::new(), format!("# From {path}.")]);
            lines.extend(patterns);
        }
    }
    let copied: BTreeSet<&String> = copied.into_iter().collect();
    if !copied.is_empty() {
        lines.extend([
            String::new(),
            "# Files that the Dockerfile copies, even if git ignores them.".to_owned(),
        ]);
    }
    lines.extend(copied.into_iter().map(|path| format!("!{path}")));
    lines.extend([String::new(), "# Secrets. They come last: nothing above brings them back.".to_owned()]);
    lines.extend(SECRETS.iter().map(ToString::to_string));
    let with_tokens = tree.named(".npmrc").into_iter().filter(|path| holds_token(tree, path));
    lines.extend(with_tokens.map(str::to_owned));
    Ok(lines)
}

/// Whether an `.npmrc` contains credentials; an unreadable one might.
pub(crate) fn holds_token(tree: &Tree, path: &str) -> bool {
    let says_so = |text: &str| ["_authToken", "_auth", "_password"].iter().any(|word| text.contains(word));
    tree.text(path).map_or(true, |text| text.is_none_or(says_so))
}

/// Translates a line of a `.gitignore` in this directory: git matches a pattern without a slash at any depth, Docker
/// at the top only.
fn pattern(place: &str, line: &str) -> Option<String> {
    let line = line.trim_end();
    let (not, body) = line.strip_prefix('!').map_or(("", line), |body| ("!", body));
    if body.is_empty() || line.starts_with('#') {
        return None;
    }
    let body = body.strip_prefix('\\').filter(|rest| rest.starts_with(['#', '!'])).unwrap_or(body);
    let body = body.trim_end_matches('/');
    let anchored = body.contains('/');
    let body = body.trim_start_matches('/');
    if body.is_empty() {
        return None;
    }
    let body = if anchored || body.starts_with("**") { body.to_owned() } else { format!("**/{body}") };
    Some(format!("{not}{}", join(place, &body)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// R73
    #[rstest]
    #[case("", "*.log", Some("**/*.log"))]
    #[case("", "/dist/", Some("dist"))]
    #[case("", "build/", Some("**/build"))]
    #[case("", "a/b", Some("a/b"))]
    #[case("", "**/x", Some("**/x"))]
    #[case("", "!keep.log", Some("!**/keep.log"))]
    #[case("web", "*.map", Some("web/**/*.map"))]
    #[case("web", "/out", Some("web/out"))]
    #[case("", "# note", None)]
    #[case("", "\\#odd", Some("**/#odd"))]
    #[case("", "   ", None)]
    #[case("", "/", None)]
    fn gitignore_patterns_become_dockerignore_patterns(
        #[case] place: &str,
        #[case] line: &str,
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(pattern(place, line).as_deref(), expected);
    }

    /// R73
    #[test]
    fn secrets_can_not_be_brought_back() {
        let tree = Tree::of_texts([(".gitignore", "!.env\n"), (".npmrc", "//r/:_authToken=x\n")]);
        let lines = lines(&tree, Scope::Image, &[]).unwrap();
        let at = |wanted: &str| lines.iter().position(|line| line == wanted).unwrap();
        assert!(at("!**/.env") < at("**/.env") && lines.contains(&".npmrc".to_owned()));
    }
}
