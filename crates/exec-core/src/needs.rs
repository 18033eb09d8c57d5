//! What a run needs of its executor that not every executor has.

use crate::{Capabilities, ExecOpts, Lifetime, Network};

/// The name of the image that is no image: this machine's own programs.
pub const HOST_IMAGE: &str = "host";

/// The name of the image that is built of the workspace's own Dockerfile.
pub const BUILD_IMAGE: &str = "build";

/// What such an image is built from, if it is there.
pub(crate) const BUILD_FILES: [&str; 3] = ["Dockerfile", "Dockerfile.dev", ".dockerignore"];

/// What options ask for by name and some executors don't have. The default is nothing.
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
    /// What these options need.
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

    /// The first thing that an executor does not have, and the option that asked for it.
    pub(crate) fn unmet(&self, has: &Capabilities) -> Option<(String, &'static str)> {
        self.0.iter().find(|need| !need.is_met(has)).map(Need::told)
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

    fn told(&self) -> (String, &'static str) {
        match self {
            Self::Image(image) => (format!("it has no images to find `{image}` in"), "--image"),
            Self::Gpus => ("it has no graphics processors".into(), "--gpus"),
            Self::Bridge => ("it has no bridge network".into(), "--network bridge"),
            Self::Terminal => ("it has no terminals".into(), "--tty"),
            Self::Session => ("it has no sessions".into(), "--session"),
        }
    }
}
