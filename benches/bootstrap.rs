//! From a project of 50,000 files to its Dockerfile: reading, planning, rendering.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

use std::fs;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use exec_bootstrap::{Plan, Project, Wishes};

const DIRECTORIES: usize = 2_500;
const FILES_EACH: usize = 20;

/// Many services, each with a manifest and sources.
fn project(root: &Path) {
    fs::write(root.join("go.mod"), "module example.com/large\n\ngo 1.22\n").expect("a module");
    fs::write(root.join("package.json"), "{\"workspaces\": [\"services/*\"]}").expect("a package");
    for index in 0..DIRECTORIES {
        let directory = root.join(format!("services/{}/package{index}", index % 50));
        fs::create_dir_all(&directory).expect("a directory");
        for file in 1..FILES_EACH {
            fs::write(directory.join(format!("source{file}.go")), "package x\n").expect("a file");
        }
        let manifest = if index % 25 == 0 { "package.json" } else { "notes.md" };
        fs::write(directory.join(manifest), "{}").expect("a file");
    }
}

fn bootstrap(c: &mut Criterion) {
    let root = tempfile::tempdir().expect("a directory");
    project(root.path());
    let mut group = c.benchmark_group("bootstrap");
    group.sample_size(10);
    group.bench_function("50000-files", |b| {
        b.iter(|| {
            let tree = Project::open(root.path()).and_then(|project| project.read()).expect("a project");
            Plan::of(&tree, &Wishes::default()).expect("a plan").files()
        });
    });
    group.finish();
}

criterion_group!(benches, bootstrap);
criterion_main!(benches);
