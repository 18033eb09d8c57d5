//! The backends that can be chosen and configured, as data of the front end.

/// A backend: a way to make sandboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// The name of its executor, which is the name of its section too.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether it runs images. A backend without images makes no containers.
    pub has_images: bool,
}

#[cfg(test)]
pub(crate) mod sample {
    use super::Backend;

    /// Two backends with images and one without.
    pub(crate) const BACKENDS: [Backend; 3] = [
        Backend { name: "docker", about: "Docker container", has_images: true },
        Backend { name: "podman", about: "Podman container", has_images: true },
        Backend { name: "local", about: "Namespaces of this host", has_images: false },
    ];
}
