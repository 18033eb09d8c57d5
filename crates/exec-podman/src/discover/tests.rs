//! Hosts, and where Podman would be looked for on them.
