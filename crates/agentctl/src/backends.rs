//! The backends as configuration knows them.

use std::sync::LazyLock;

use agent_exec::BackendInfo;
use exec_config::{Backend, Here};

/// The registered backends. The list lives as long as the program, so its words do too.
static ALL: LazyLock<Vec<Backend>> = LazyLock::new(|| {
    let backend = |BackendInfo { name, description, has_images, .. }: BackendInfo| Backend {
        name: name.leak(),
        about: description.leak(),
        has_images,
    };
    agent_exec::backends().into_iter().map(backend).collect()
});

/// All of them, in order of preference.
pub(crate) fn all() -> &'static [Backend] {
    &ALL
}

/// This host, with these backends.
pub(crate) fn here() -> Here {
    Here { backends: all() }
}
