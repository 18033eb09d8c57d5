//! How engines differ, as data. `body.rs` uses it to write requests.

use crate::Product;

/// The differences of one engine product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent habits of an engine")]
pub(crate) struct Dialect {
    /// How a tmpfs gets its owner.
    pub(crate) tmpfs_owner: TmpfsOwner,
    /// How paths are hidden.
    pub(crate) masks: Masks,
    /// Characters with a special meaning in the path of a mount.
    pub(crate) reserved: &'static [char],
    /// The prefix of images that were built here.
    pub(crate) local_prefix: Option<&'static str>,
    /// With a read-only root it mounts an unlimited `/var/tmp`, unless one is given.
    pub(crate) adds_var_tmp: bool,
    /// It overwrites the host's user names with its own, unless they are given.
    pub(crate) writes_user_names: bool,
    /// A container can have the caller's user id in its own user namespace.
    pub(crate) keeps_ids: bool,
    /// It can label mounts for containers.
    pub(crate) relabels: bool,
    /// It reports when a container runs out of memory.
    pub(crate) tells_out_of_memory: bool,
    /// To report events since a time it reads all events it ever logged, of every user.
    pub(crate) rereads_events: bool,
    /// It reports a container as removed while it is still creating it, and then finishes creating it.
    pub(crate) removes_half_made: bool,
    /// It may be rootless without reporting it.
    pub(crate) hides_rootless: bool,
    /// When rootless, it reports limits that it can't set.
    pub(crate) overstates_limits: bool,
    /// A container's monitor has the engine's working directory and creates files there by name.
    pub(crate) monitors_where_it_works: bool,
    /// It sets limits that it may not be allowed to set, unless others are given.
    pub(crate) raises_ulimits: bool,
}

/// How a tmpfs gets its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TmpfsOwner {
    /// By numeric ids.
    Named,
    /// By a flag that means the container's user.
    User,
}

/// How paths are hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Masks {
    /// A separate list, which replaces the engine's.
    List,
    /// A security option, which adds to the engine's.
    SecurityOption,
}

const DOCKER: Dialect = Dialect {
    tmpfs_owner: TmpfsOwner::Named,
    masks: Masks::List,
    reserved: &[],
    local_prefix: None,
    adds_var_tmp: false,
    writes_user_names: false,
    keeps_ids: false,
    relabels: false,
    tells_out_of_memory: true,
    rereads_events: false,
    removes_half_made: false,
    hides_rootless: false,
    overstates_limits: false,
    monitors_where_it_works: false,
    raises_ulimits: false,
};

const PODMAN: Dialect = Dialect {
    tmpfs_owner: TmpfsOwner::User,
    masks: Masks::SecurityOption,
    // It writes a mount as one comma-separated line and a list of paths as one colon-separated line.
    reserved: &[',', ':', '"', '\n', '\r'],
    local_prefix: Some("localhost/"),
    adds_var_tmp: true,
    writes_user_names: true,
    keeps_ids: true,
    relabels: true,
    tells_out_of_memory: false,
    rereads_events: true,
    removes_half_made: true,
    hides_rootless: true,
    overstates_limits: true,
    monitors_where_it_works: true,
    raises_ulimits: true,
};

impl Dialect {
    pub(crate) fn of(product: Product) -> Self {
        match product {
            Product::Docker => DOCKER,
            Product::Podman => PODMAN,
        }
    }

    /// The names by which to look up an image, in order. An engine that keeps local images under a prefix would
    /// look for a bare name only in registries.
    pub(crate) fn image_names(&self, name: &str) -> Vec<String> {
        let local = self.local_prefix.filter(|_| is_bare(name)).map(|prefix| format!("{prefix}{name}"));
        local.into_iter().chain([name.to_owned()]).collect()
    }
}

/// Whether a name is neither an id nor names a registry.
fn is_bare(name: &str) -> bool {
    let (first, path) = name.split_once('/').unwrap_or(("", name));
    let is_registry = first == "localhost" || first.contains(['.', ':']);
    !is_registry && !path.starts_with("sha256:")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// R60
    #[rstest]
    #[case("odd", &["localhost/odd", "odd"])]
    #[case("team/odd:3", &["localhost/team/odd:3", "team/odd:3"])]
    #[case("quay.io/odd", &["quay.io/odd"])]
    #[case("localhost/odd", &["localhost/odd"])]
    #[case("registry:5000/odd", &["registry:5000/odd"])]
    #[case("sha256:00ff", &["sha256:00ff"])]
    fn podman_keeps_local_images_apart(#[case] name: &str, #[case] names: &[&str]) {
        assert_eq!(Dialect::of(Product::Podman).image_names(name), names);
        assert_eq!(Dialect::of(Product::Docker).image_names(name), [name]);
    }
}
