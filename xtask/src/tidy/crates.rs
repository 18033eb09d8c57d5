//! Which crate may depend on which: in one direction, from the program to the frames.

use super::Problem;
use crate::cargo::Package;

/// A crate of the workspace and the crates it may depend on. Dependencies of its tests are not restricted.
struct Row {
    name: &'static str,
    may_use: &'static [&'static str],
}

const ROWS: &[Row] = &[
    Row { name: "exec-files", may_use: &[] },
    Row { name: "exec-core", may_use: &["exec-files"] },
    Row { name: "exec-wire", may_use: &[] },
    Row { name: "exec-init", may_use: &["exec-wire", "static-build"] },
    Row { name: "exec-control", may_use: &["exec-core", "exec-files", "exec-wire"] },
    Row { name: "exec-cell", may_use: &["exec-core", "exec-control", "exec-wire"] },
    Row { name: "exec-host", may_use: &["exec-files"] },
    Row {
        name: "exec-local",
        may_use: &["exec-cell", "exec-core", "exec-host", "exec-init", "exec-control", "exec-wire"],
    },
    Row {
        name: "exec-container",
        may_use: &[
            "exec-cell",
            "exec-core",
            "exec-files",
            "exec-host",
            "exec-init",
            "exec-control",
            "exec-wire",
        ],
    },
    Row { name: "exec-bootstrap", may_use: &["exec-core", "exec-files"] },
    Row { name: "exec-config", may_use: &["exec-core", "exec-files"] },
    Row { name: "exec-docker", may_use: &["exec-cell", "exec-container", "exec-core"] },
    Row {
        name: "exec-podman",
        may_use: &["exec-cell", "exec-container", "exec-core", "exec-files", "exec-wire"],
    },
    Row {
        name: "agent-exec",
        may_use: &["exec-cell", "exec-core", "exec-docker", "exec-local", "exec-podman", "exec-control"],
    },
    Row { name: "exec-doctor", may_use: &["exec-core"] },
    Row { name: "exec-tools", may_use: &["exec-core"] },
    Row { name: "exec-mcp", may_use: &["exec-core", "exec-tools"] },
    Row { name: "exec-workshop", may_use: &["exec-config", "exec-core", "exec-files", "exec-tools"] },
    Row { name: "exec-probe", may_use: &[] },
    Row { name: "static-build", may_use: &[] },
    Row { name: "exec-testkit", may_use: &["exec-core", "static-build"] },
    Row {
        name: "agentctl",
        may_use: &[
            "agent-exec",
            "exec-bootstrap",
            "exec-config",
            "exec-core",
            "exec-doctor",
            "exec-files",
            "exec-mcp",
            "exec-tools",
            "exec-workshop",
        ],
    },
    Row {
        name: "exec-benches",
        may_use: &["agent-exec", "exec-bootstrap", "exec-core", "exec-docker", "exec-local", "exec-podman"],
    },
    Row { name: "exec-examples", may_use: &["agent-exec"] },
    Row { name: "xtask", may_use: &["exec-wire"] },
];

pub(super) fn check(packages: &[Package]) -> Vec<Problem> {
    packages.iter().flat_map(|package| check_one(package, ROWS)).collect()
}

fn check_one(package: &Package, rows: &[Row]) -> Vec<Problem> {
    let Some(row) = rows.iter().find(|row| row.name == package.name) else {
        return vec![Problem::of(&package.name, "add this crate's dependencies to xtask/src/tidy/crates.rs")];
    };
    let ours = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    ours.filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        .filter(|dependency| !row.may_use.contains(&dependency.name.as_str()))
        .map(|dependency| Problem::of(&package.name, format!("may not depend on {}", dependency.name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Dependency;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependency = |&(name, kind): &(&str, Option<&str>)| Dependency {
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
            path: Some(format!("/checkout/crates/{name}").into()),
        };
        let dependencies = dependencies.iter().map(dependency).collect();
        Package { name: name.to_owned(), id: String::new(), manifest_path: "".into(), dependencies }
    }

    #[test]
    fn a_dependency_against_the_direction_is_found() {
        let wrong = package("exec-core", &[("exec-cell", None)]);
        assert_eq!(check(&[wrong]), [Problem::of("exec-core", "may not depend on exec-cell")]);
        let built = package("exec-wire", &[("exec-core", Some("build"))]);
        assert_eq!(check(&[built]).len(), 1);
    }

    #[test]
    fn the_right_direction_and_tests_are_fine() {
        let right = package("exec-cell", &[("exec-core", None), ("exec-testkit", Some("dev"))]);
        assert!(check(&[right]).is_empty());
    }

    #[test]
    fn crates_of_a_registry_are_ignored() {
        let mut package = package("exec-core", &[("serde", None)]);
        package.dependencies[0].path = None;
        assert!(check(&[package]).is_empty());
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert_eq!(check(&[package("exec-new", &[])])[0].path, "exec-new");
    }

    #[test]
    fn the_table_has_no_cycles() {
        let mut left: Vec<&Row> = ROWS.iter().collect();
        while !left.is_empty() {
            let names: Vec<_> = left.iter().map(|row| row.name).collect();
            let before = left.len();
            left.retain(|row| row.may_use.iter().any(|used| names.contains(used)));
            assert!(left.len() < before, "these depend on each other: {names:?}");
        }
    }
}
