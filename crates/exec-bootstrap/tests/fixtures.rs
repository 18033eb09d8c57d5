//! Whole projects in, whole files out. A project is data: `tests/fixtures/NAME.txt` holds its files, each after a line
//! `=== path`; a path that ends in a slash is nothing but there.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::fmt::Write as _;
use std::path::Path;

use exec_bootstrap::{Plan, Tree, Wishes};

/// The files of a project, and the wishes on lines before the first of them.
fn project(text: &str) -> (Vec<(String, String)>, Wishes) {
    let mut blocks = text.split("=== ");
    let wishes = blocks.next().unwrap();
    let base = wishes.lines().find_map(|line| line.strip_prefix("--base ")).map(str::to_owned);
    let files = blocks.map(|block| block.split_once('\n').unwrap_or((block, "")));
    (files.map(|(path, text)| (path.trim().to_owned(), text.to_owned())).collect(), Wishes { base })
}

/// Everything that comes of it, as one text.
fn outcome(text: &str) -> String {
    let (files, wishes) = project(text);
    let plan = match Plan::of(&Tree::of_texts(files), &wishes) {
        Ok(plan) => plan,
        Err(error) => return format!("error: {error}\n  try: {}\n", error.remedy().unwrap_or_default()),
    };
    let mut shown = plan.dockerfile();
    let ignored = plan.dockerignore();
    // What is in every one of them is shown once, by a test of its own.
    let ours =
        ignored.lines().skip_while(|line| !line.starts_with("# From") && !line.starts_with("# What the"));
    let ours: Vec<&str> = ours.take_while(|line| !line.starts_with("# Secrets")).collect();
    writeln!(shown, "\n=== .dockerignore\n{}", ours.join("\n").trim_end()).unwrap();
    shown
}

/// R71, R72: every kind of project, and what is said of broken ones.
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

/// R73: what is in every `.dockerignore`.
#[test]
fn what_is_ignored_everywhere() {
    let tree = Tree::of_texts([("go.mod", "module x\ngo 1.22\n")]);
    insta::assert_snapshot!(Plan::of(&tree, &Wishes::default()).unwrap().dockerignore());
}
