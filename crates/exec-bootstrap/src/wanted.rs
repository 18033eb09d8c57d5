//! Which files describe a project, and which directories to skip.

/// Files whose text is read.
const READ: &[&str] = &[
    ".gitignore",
    ".java-version",
    ".node-version",
    ".npmrc",
    ".nvmrc",
    ".python-version",
    ".ruby-version",
    ".sdkmanrc",
    ".tool-versions",
    ".yarnrc.yml",
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Gemfile.lock",
    "Pipfile",
    "Pipfile.lock",
    "build.gradle",
    "build.gradle.kts",
    "constraints.txt",
    "go.mod",
    "go.work",
    "gradle-wrapper.properties",
    "mise.toml",
    ".mise.toml",
    "package-lock.json",
    "package.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pom.xml",
    "pyproject.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "settings.gradle",
    "settings.gradle.kts",
    "uv.lock",
    "yarn.lock",
];

/// Files whose existence matters.
const SEEN: &[&str] = &[
    "bun.lock",
    "setup.cfg",
    "libs.versions.toml",
    "pdm.toml",
    "poetry.toml",
    "bun.lockb",
    "go.sum",
    "go.work.sum",
    "gradle.properties",
    "modules.txt",
    "npm-shrinkwrap.json",
    "pnpm-workspace.yaml",
    "setup.py",
    ".pnpmfile.cjs",
];

/// Files that matter at the top: the usual entry points of an application.
const AT_THE_TOP: &[&str] = &["app.py", "config.ru", "index.js", "main.py", "manage.py", "server.js"];

/// The extensions of Python requirement files.
const LISTS: &[&str] = &[".txt", ".in"];

/// Directories without manifests of the project: third-party code, tool output and history.
const CLOSED: &[&str] = &[
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "venv",
    "env",
    "__pycache__",
    "site-packages",
    "bower_components",
    "coverage",
    "tmp",
    "Pods",
    "DerivedData",
];

/// Hidden directories that do hold manifests.
const OPEN: &[&str] = &[".cargo", ".config", ".mvn", ".yarn"];

/// Directories whose manifests belong to the project but do not determine its languages.
const ASIDE: &[&str] = &[
    "doc",
    "docs",
    "example",
    "examples",
    "fixture",
    "fixtures",
    "__fixtures__",
    "sample",
    "samples",
    "testdata",
    "third_party",
    "vendor",
    "template",
    "templates",
    ".cargo",
    ".config",
    ".mvn",
    ".yarn",
];

/// What to do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interest {
    Read,
    Seen,
    None,
}

/// Decides by the path from the top.
pub(crate) fn interest(path: &str) -> Interest {
    let name = crate::tree::file_name(path);
    let is_list = path.contains("requirements") && (LISTS.iter().any(|end| name.ends_with(end)));
    let at_the_end = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    if READ.contains(&name) || is_list || at_the_end(&[".config/mise/config.toml", ".cargo/config.toml"]) {
        Interest::Read
    } else if SEEN.contains(&name)
        || AT_THE_TOP.contains(&path)
        || is_part_of_yarn(path)
        || is_patch(path)
        || at_the_end(&[".mvn/extensions.xml"])
    {
        Interest::Seen
    } else {
        Interest::None
    }
}

/// Yarn's own program, plugins and patches, which projects commit; its package archive does not count.
fn is_part_of_yarn(path: &str) -> bool {
    ["releases", "plugins", "patches"].iter().any(|kind| path.contains(&format!(".yarn/{kind}/")))
}

/// Patches applied to packages at installation.
fn is_patch(path: &str) -> bool {
    path.strip_suffix(".patch")
        .is_some_and(|path| crate::tree::file_name(crate::tree::directory(path)) == "patches")
}

/// Whether a directory of this name can contain manifests.
pub(crate) fn is_open(name: &str) -> bool {
    if name.starts_with('.') {
        OPEN.contains(&name)
    } else {
        !CLOSED.contains(&name) && !name.starts_with("bazel-")
    }
}

/// Whether a manifest here determines the project's languages.
pub(crate) fn counts(path: &str) -> bool {
    !crate::tree::directory(path).split('/').any(|part| ASIDE.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read_and_sources_are_not() {
        assert_eq!(interest("web/package.json"), Interest::Read);
        assert_eq!(interest("requirements/dev.txt"), Interest::Read);
        assert_eq!(interest("go.sum"), Interest::Seen);
        assert_eq!(interest("src/main.rs"), Interest::None);
        assert_eq!(interest("config.toml"), Interest::None);
    }

    #[test]
    fn other_peoples_code_and_examples() {
        assert!(!is_open("node_modules") && !is_open(".git") && is_open("vendor") && is_open(".cargo"));
        assert!(!counts("docs/requirements.txt") && !counts("vendor/x/go.mod") && counts("backend/go.mod"));
    }
}
