//! Features that a run needs and not every executor has.

use crate::{Capabilities, ExecOpts, Lifetime, Network};

/// The image name that stands for this machine's own programs.
pub const HOST_IMAGE: &str = "host";

/// The image name that stands for an image built from the workspace's Dockerfile.
pub const BUILD_IMAGE: &str = "build";

/// The files that such an image is built from, where they exist.
pub(crate) const BUILD_FILES: [&str; 3] = ["Dockerfile", "Dockerfile.dev", ".dockerignore"];

/// Features that the options request and some executors lack. The default is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs(Vec<Need>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    Image(String),
    Gpus,
    Bridge,
    Terminal,
    Session,
}

impl Needs {
    /// The features that these options request.
    pub fn of(opts: &ExecOpts) -> Self {
        let image = opts.image.clone().filter(|image| image != HOST_IMAGE).map(Need::Image);
        let others = [
            opts.gpus.is_some().then_some(Need::Gpus),
            (opts.network == Some(Network::Bridge)).then_some(Need::Bridge),
            opts.tty.is_some().then_some(Need::Terminal),
            matches!(opts.lifetime, Lifetime::Session(_)).then_some(Need::Session),
        ];
        Self(image.into_iter().chain(others.into_iter().flatten()).collect())
    }

    /// The first feature that an executor lacks, and the option that requested it.
    pub(crate) fn unmet(&self, has: &Capabilities) -> Option<(String, &'static str)> {
        self.0.iter().find(|need| !need.is_met(has)).map(Need::describe)
    }
}

impl Need {
    fn is_met(&self, has: &Capabilities) -> bool {
        match self {
            Self::Image(_) | Self::Gpus | Self::Bridge => has.images,
            Self::Terminal => has.tty,
            Self::Session => has.sessions,
        }
    }

    fn describe(&self) -> (String, &'static str) {
        match self {
            Self::Image(image) => (format!("it has no images to find `{image}` in"), "image"),
            Self::Gpus => ("it has no graphics processors".into(), "gpus"),
            Self::Bridge => ("it has no bridge network".into(), "network"),
            Self::Terminal => ("it has no terminals".into(), "tty"),
            Self::Session => ("it has no sessions".into(), "session"),
        }
    }
}
