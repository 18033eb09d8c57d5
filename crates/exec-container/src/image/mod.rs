//! The image of a run: the host's own programs, a named one, or one built from the workspace's Dockerfile.

mod build;
mod host;
mod named;

pub(crate) use build::{Builder, dockerfile};
pub(crate) use host::HostImage;
pub(crate) use named::Named;
pub use named::PullPolicy;

use exec_core::{Error, ErrorKind};

/// Podman's prefixes of names without a registry: for built images, and for tagged ones.
const NO_REGISTRY: [&str; 2] = ["localhost/", "docker.io/"];

/// Whether an image's name is one of ours.
pub(crate) fn is_name_of_ours(name: &str) -> bool {
    let name = NO_REGISTRY.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let repository = name.rsplit_once(':').map_or(name, |(repository, _)| repository);
    [host::REPOSITORY, build::REPOSITORY].contains(&repository)
}

/// The error if a specification needs an image that was not looked up, or was just removed.
fn not_looked_up(name: &str) -> Error {
    let message = format!("the image `{name}` is not known to be on the engine");
    Error::new(ErrorKind::ImageNotFound, "image", message)
        .with_remedy("try again: it is looked up, and pulled or made anew")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R76, A37
    #[test]
    fn a_name_is_ours_or_somebody_elses() {
        for name in ["agentctl/host:00ff", "localhost/agentctl/project:00ff", "docker.io/agentctl/host:00ff"]
        {
            assert!(is_name_of_ours(name), "{name}");
        }
        for name in
            ["mine:1", "agentctl/hosts:1", "example.org/agentctl/host:1", "x/localhost/agentctl/host:1"]
        {
            assert!(!is_name_of_ours(name), "{name}");
        }
    }
}
