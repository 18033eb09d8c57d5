//! How an engine wants things said where engines differ, as data. What is said is in `body.rs`.

use crate::Product;

/// The words of one make of engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent habits of an engine")]
pub(crate) struct Dialect {
    /// How a file system in memory gets its owner.
    pub(crate) tmpfs_owner: TmpfsOwner,
    /// How paths are hidden.
    pub(crate) masks: Masks,
    /// Characters that it takes for its own in a path that is mounted.
    pub(crate) reserved: &'static [char],
    /// What it puts before the names of images that were made here.
    pub(crate) local_prefix: Option<&'static str>,
    /// Beside a read-only root it mounts a `/var/tmp` without a limit, unless it is told which.
    pub(crate) adds_var_tmp: bool,
    /// It writes user names of its own over the host's, unless it is told which to take.
    pub(crate) writes_user_names: bool,
    /// A container can have the caller's own user id in a user namespace of its own.
    pub(crate) keeps_ids: bool,
    /// It labels for containers what it mounts in them, if it is told to.
    pub(crate) relabels: bool,
    /// It tells when a container's memory was used up.
    pub(crate) tells_out_of_memory: bool,
    /// To tell what happened since a moment it reads everything that it ever wrote down, for whoever is on this machine.
    pub(crate) rereads_events: bool,
    /// It says that it removed a container which it is still creating, and then goes on creating it.
    pub(crate) removes_half_made: bool,
    /// It may run as an ordinary user without saying so.
    pub(crate) hides_rootless: bool,
    /// As an ordinary user it claims limits that it can't set.
    pub(crate) overstates_limits: bool,
    /// The monitor of a container works where the engine does, and creates files there by name.
    pub(crate) monitors_where_it_works: bool,
    /// It gives containers limits of its own that it may not be allowed to set, unless it is told which.
    pub(crate) raises_ulimits: bool,
}

/// How a file system in memory gets its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TmpfsOwner {
    /// By number.
    Named,
    /// By a letter that means the container's user.
    User,
}

/// How paths are hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Masks {
    /// In a list of their own, which replaces the engine's.
    List,
    /// Among the security options, which adds to the engine's.
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
    // It turns a mount into one line of words with commas, and a list of paths into one with colons.
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

    /// The names to look an image up by, in this order. An engine that keeps what was made here under a prefix of its own
    /// would look for a bare name at a registry only.
    pub(crate) fn image_names(&self, name: &str) -> Vec<String> {
        let local = self.local_prefix.filter(|_| is_bare(name)).map(|prefix| format!("{prefix}{name}"));
        local.into_iter().chain([name.to_owned()]).collect()
    }
}

/// Whether a name says neither which registry it is from nor that it is an id.
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
