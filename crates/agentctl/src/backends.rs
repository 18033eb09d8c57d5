//! The backends as configuration knows them.

use exec_config::{Backend, Here};

const ALL: [Backend; 3] = [
    Backend { name: "docker", about: "Docker container", has_images: true },
    Backend { name: "podman", about: "Podman container", has_images: true },
    Backend { name: "local", about: "Namespaces of this host", has_images: false },
];

/// All of them, in order of preference.
pub(crate) fn all() -> &'static [Backend] {
    &ALL
}

/// This host, with these backends.
pub(crate) fn here() -> Here {
    Here { backends: all() }
}
