//! Same project, same bytes: whatever the order of its files, and whatever else exists beside them.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::fs;
use std::time::{Duration, SystemTime};

use exec_bootstrap::{File, Plan, Project, Scope, Tree, Wishes};
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

fn wishes() -> Wishes {
    let agents = ["codex", "claude"].map(|agent| agent.parse().unwrap()).into();
    Wishes { agents, scope: Scope::Compose, ..Wishes::default() }
}

fn files(order: &[usize]) -> Vec<File> {
    let tree = Tree::of_texts(order.iter().map(|&index| FILES[index]));
    Plan::of(&tree, &wishes()).unwrap().files()
}

/// R72: also from a disk, whatever the order in which files were created and their times. The positive control:
/// another file gives other bytes.
#[test]
fn neither_time_nor_place_matters() {
    let all: Vec<usize> = (0..FILES.len()).collect();
    let expected = files(&all);
    let write = |order: &[usize], time: SystemTime| {
        let directory = tempfile::tempdir().unwrap();
        for &index in order {
            let path = directory.path().join(FILES[index].0);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, FILES[index].1).unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        }
        directory
    };
    let backwards: Vec<usize> = all.iter().rev().copied().collect();
    for (order, seconds) in [(&all, 0), (&backwards, 2_000_000_000)] {
        let project = write(order, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let plan = Plan::of(&Project::open(project.path()).unwrap().read().unwrap(), &wishes()).unwrap();
        assert_eq!(plan.files(), expected);
    }
    assert_ne!(files(&all[1..]), expected);
}

proptest! {
    /// R72
    #[test]
    fn the_order_of_files_does_not_matter(order in Just((0..FILES.len()).collect::<Vec<_>>()).prop_shuffle()) {
        let sorted: Vec<usize> = (0..FILES.len()).collect();
        prop_assert_eq!(files(&order), files(&sorted));
    }

    /// No text in a manifest makes the plan panic, or becomes an instruction.
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
