//! The order of backends, and which backend a name selects.

use async_trait::async_trait;
use exec_cell::Setup;
use exec_core::{Detected, Result};

use super::*;

#[derive(Debug)]
struct Vm {
    name: &'static str,
    aliases: &'static [&'static str],
}

#[async_trait]
impl Backend for Vm {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[&str] {
        self.aliases
    }

    async fn detect(&self, _: Setup) -> Result<Detected> {
        Ok(Detected::Missing { reason: String::new(), remedy: "".into() })
    }
}

fn vm(name: &'static str, aliases: &'static [&'static str]) -> Arc<dyn Backend> {
    Arc::new(Vm { name, aliases })
}

fn names(backends: &Backends) -> Vec<&str> {
    backends.iter().map(|backend| backend.name()).collect()
}

/// R60
#[test]
fn preference_is_the_order_of_the_list() {
    assert_eq!(names(&Backends::default()), ["docker", "podman", "local"]);
    let more = Backends::default().with_first(vm("a", &[])).with_first(vm("b", &[])).with_last(vm("z", &[]));
    assert_eq!(names(&more), ["b", "a", "docker", "podman", "local", "z"]);
}

#[test]
fn the_same_name_is_replaced_in_its_place() {
    let replaced = Backends::default().with_first(vm("podman", &["other"]));
    assert_eq!(names(&replaced), ["docker", "podman", "local"]);
    assert_eq!(replaced.describe()[1].aliases, ["other"]);
}

/// R6
#[test]
fn a_name_takes_precedence_over_an_alias() {
    let backends: Backends = [vm("a", &["b", "c"]), vm("b", &["c"])].into_iter().collect();
    let selected = |name| backends.get(name).map(|backend| backend.name());
    assert_eq!(
        [selected("a"), selected("b"), selected("c"), selected("d")],
        [Some("a"), Some("b"), Some("a"), None]
    );
    assert_eq!((backends.canonical("c"), backends.canonical("d")), ("a", "d"));
}

#[cfg(all(feature = "docker", feature = "local", feature = "podman"))]
#[test]
fn the_backends_built_in_are_described() {
    let listed: Vec<(String, bool)> =
        backends().into_iter().map(|one| (one.description, one.has_images)).collect();
    let expected =
        [("A Docker container", true), ("A Podman container", true), ("Namespaces on this host", false)];
    assert_eq!(listed, expected.map(|(text, has_images)| (text.to_owned(), has_images)));
}
