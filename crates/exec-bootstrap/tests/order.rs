//! Same project, same bytes: whatever order its files come in, and whatever else lies beside them.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use exec_bootstrap::{Plan, Tree, Wishes};
use proptest::prelude::*;

const FILES: &[(&str, &str)] = &[
    ("go.mod", "module x\n\ngo 1.22\n"),
    ("lib/go.mod", "module y\n\ngo 1.23\n"),
    ("package.json", "{\"workspaces\": [\"packages/*\"], \"engines\": {\"node\": \">=18\"}}"),
    ("package-lock.json", "{\"packages\": {\"node_modules/canvas\": {}, \"node_modules/zeromq\": {}}}"),
    ("packages/a/package.json", "{}"),
    ("packages/b/package.json", "{}"),
    ("pyproject.toml", "[project]\nname = \"x\"\nrequires-python = \">=3.10\"\n"),
    ("tools/requirements.txt", "lxml\npsycopg2\n"),
    ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
    ("Cargo.lock", "[[package]]\nname = \"openssl-sys\"\n[[package]]\nname = \"bindgen\"\n"),
    ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"),
    ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n"),
    (".gitignore", "*.log\n"),
    ("packages/.gitignore", "/dist\n"),
];

fn files(order: &[usize]) -> (String, String) {
    let tree = Tree::of_texts(order.iter().map(|&index| FILES[index]));
    let plan = Plan::of(&tree, &Wishes::default()).unwrap();
    (plan.dockerfile(), plan.dockerignore())
}

proptest! {
    /// R72
    #[test]
    fn the_order_of_files_does_not_matter(order in Just((0..FILES.len()).collect::<Vec<_>>()).prop_shuffle()) {
        let sorted: Vec<usize> = (0..FILES.len()).collect();
        prop_assert_eq!(files(&order), files(&sorted));
    }

    /// Nothing that a manifest says makes the plan panic, or an instruction of its own.
    #[test]
    fn manifests_are_only_data(name in prop::sample::select(FILES), text in "[ -~\n]{0,80}", version in "[ -~\n]{0,20}") {
        let manifest = format!("{{\"engines\": {{\"node\": {version:?}}}, \"packageManager\": {text:?}}}");
        let texts = [(name.0, text.as_str()), ("web/package.json", &manifest), (".tool-versions", &text), ("mod/go.mod", &text)];
        let Ok(plan) = Plan::of(&Tree::of_texts(texts), &Wishes::default()) else { return Ok(()) };
        let known = ["#", "FROM ", "COPY ", "RUN ", "ENV ", "WORKDIR ", "USER ", "ARG ", "CMD ", "    "];
        for line in plan.dockerfile().lines() {
            prop_assert!(line.is_empty() || known.iter().any(|start| line.starts_with(start)), "{}", line);
        }
    }
}
