//! Whole projects in, whole files out. A project is data: `tests/fixtures/NAME.txt` holds its files, each after a
//! line `=== path`; a path that ends in a slash is an empty directory.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::fmt::Write as _;
use std::path::Path;

use exec_bootstrap::{DOCKERFILE, DOCKERIGNORE, Plan, Scope, Tree, Wishes};

/// The files of a project, and the wishes on lines before the first of them.
fn project(text: &str) -> (Vec<(String, String)>, Wishes) {
    let mut blocks = text.split("=== ");
    let mut wishes = Wishes::default();
    for line in blocks.next().unwrap().lines() {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("--base", image) => wishes.base = Some(image.to_owned()),
            ("--with-cli", names) => {
                wishes.agents = names.split(',').map(|name| name.parse().unwrap()).collect();
            }
            ("--compose", _) => wishes.scope = Scope::Compose,
            ("--digest", pairs) => {
                let pair =
                    |pair: &str| pair.split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
                wishes.digests = Some(pairs.split_whitespace().map(pair).collect());
            }
            _ => {}
        }
    }
    let files = blocks.map(|block| block.split_once('\n').unwrap_or((block, "")));
    (files.map(|(path, text)| (path.trim().to_owned(), text.to_owned())).collect(), wishes)
}

/// All results as one text.
fn outcome(text: &str) -> String {
    let (files, wishes) = project(text);
    let plan = match Plan::of(&Tree::of_texts(files), &wishes) {
        Ok(plan) => plan,
        Err(error) => {
            return format!(
                "error: {error}\n  try: {}\n",
                error.remedy().map_or_else(String::new, ToString::to_string)
            );
        }
    };
    let mut shown = plan.dockerfile();
    for file in plan.files() {
        match file.path {
            DOCKERIGNORE => {
                // The common part is covered by a test of its own.
                let ours = file
                    .text
                    .lines()
                    .skip_while(|line| !line.starts_with("# From") && !line.starts_with("# Files that the"));
                let ours: Vec<&str> = ours.take_while(|line| !line.starts_with("# Secrets")).collect();
                writeln!(shown, "\n=== .dockerignore\n{}", ours.join("\n").trim_end()).unwrap();
            }
            // Only one line differs between projects.
            "docker-compose.yml" => {
                let command = file.text.lines().find(|line| line.contains("command:"));
                writeln!(shown, "\n=== docker-compose.yml\n{}", command.unwrap().trim()).unwrap();
            }
            DOCKERFILE if wishes.scope == Scope::Compose => {
                let app = file.text.split_once("# Builds it").unwrap().1;
                writeln!(shown, "\n=== Dockerfile\n# Builds it{app}").unwrap();
            }
            _ => {}
        }
    }
    shown
}

/// R71, R72: every kind of project, and the errors for broken ones.
#[test]
fn every_project() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 40, "{}", paths.len());
    for path in paths {
        let name = path.file_stem().unwrap().to_str().unwrap();
        insta::assert_snapshot!(name, outcome(&std::fs::read_to_string(&path).unwrap()));
    }
}

/// R73: the common part of every `.dockerignore`.
#[test]
fn the_common_ignore_list() {
    let tree = Tree::of_texts([("go.mod", "module x\ngo 1.22\n")]);
    insta::assert_snapshot!(Plan::of(&tree, &Wishes::default()).unwrap().dockerignore());
}

/// R74: the files that are the same in every project, but for the start command.
#[test]
fn compose_files_and_scripts() {
    let tree = Tree::of_texts([("go.mod", "module example.com/hello\ngo 1.22\n")]);
    let plan = Plan::of(&tree, &Wishes { scope: Scope::Compose, ..Wishes::default() }).unwrap();
    for file in plan.files().iter().filter(|file| file.path.contains("compose") || file.path.contains('/')) {
        insta::assert_snapshot!(file.path.replace('/', "_"), file.text);
    }
}
