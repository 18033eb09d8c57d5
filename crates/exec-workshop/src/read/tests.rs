//! From files to a workshop, or to all their mistakes.

use std::fs;

use exec_tools::Tool;
use tempfile::TempDir;

use super::*;
use crate::{Allowed, Isolation};

const BACKENDS: [Backend; 2] = [
    Backend { name: "docker", about: "Docker container", has_images: true },
    Backend { name: "local", about: "Namespaces of this host", has_images: false },
];

const RIGHT: &str = "\
name: payments
isolation: docker
container:
  image: python:3.12-slim
  network: none
  mounts: [\"/usr/share:/fixtures:ro\"]
  resources: {memory: 2G, cpu: 1}
workers:
  - builder
  - reviewers/strict.md
  - {name: reader, description: Looks, allowed-tools: [sandbox_status, Read]}
";

fn directory(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn mistakes(files: &[(&str, &str)]) -> String {
    let dir = directory(files);
    let error = load(&dir.path().join("shop.yaml"), &BACKENDS).unwrap_err().to_string();
    let canonical = dir.path().canonicalize().unwrap();
    error.replace(&format!("{}/", canonical.display()), "").replace(&format!("{}/", dir.path().display()), "")
}

/// R83
#[test]
fn a_workshop_with_its_workers() {
    let dir = directory(&[
        ("shop.yaml", RIGHT),
        (
            "workers/builder.md",
            "---\nname: builder\ndescription: Builds\ndelegates-to: strict\n---\n# Prompt\n",
        ),
        (
            "reviewers/strict.md",
            "---\nname: strict\ndescription: Reviews\nallowed-tools: Bash, read_output\n---\n",
        ),
    ]);
    let shop = load(&dir.path().join("shop.yaml"), &BACKENDS).unwrap();
    assert_eq!((shop.name.as_str(), shop.isolation), ("payments", Isolation::Docker));
    let settings: Vec<String> = shop.settings.iter().map(|setting| format!("{setting:?}")).collect();
    assert_eq!(
        settings,
        [
            "executor = docker",
            "image = python:3.12-slim",
            "network = none",
            "mounts = /usr/share:/fixtures:ro",
            "memory = 2 GiB",
            "cpus = 1"
        ]
    );
    assert_eq!(shop.worker("builder").unwrap().allowed, Allowed::All);
    let tools = |name: &str| shop.worker(name).unwrap().allowed.tools().into_iter().collect::<Vec<_>>();
    assert_eq!(tools("strict"), [Tool::RunCommand, Tool::ReadOutput]);
    assert_eq!(tools("reader"), [Tool::SandboxStatus]);
    assert_eq!(shop.files.len(), 3);
}

/// R83: every mistake, each with its line.
#[test]
fn every_mistake_has_its_place() {
    let shop = "\
name: pay ments
isolation: dokcer
container:
  imgae: x
  network: wide
  mounts: [\"/nowhere\", 7:8:9:10]
  resources: {memory: lots, cpu: -1, disk: 1}
sandbox:
  paths: [/srv/data]
workers:
  - builder
  - missing
  - {name: twice, description: One}
  - {name: twice, description: Two}
  - 7
";
    let builder = "---\nname: builder\nallowed-tools: [run_comand, \"Bash(git *)\"]\ndelegates-to: [buidler, twise]\n---\n";
    insta::assert_snapshot!(mistakes(&[("shop.yaml", shop), ("workers/builder.md", builder)]));
}

#[test]
fn broken_tables_yaml_and_front_matter() {
    insta::assert_snapshot!(mistakes(&[("shop.yaml", "- a\n")]));
    insta::assert_snapshot!(mistakes(&[("shop.yaml", "name: [\n")]));
    let shop = "name: a\nisolation: process\ncontainer: {}\nworkers: [one, two]\n";
    insta::assert_snapshot!(mistakes(&[
        ("shop.yaml", shop),
        ("workers/one.md", "# One\n"),
        ("workers/two.md", "---\nname: two\n"),
    ]));
}
