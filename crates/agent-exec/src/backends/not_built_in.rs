//! A backend whose cargo feature is off.

use async_trait::async_trait;
use exec_cell::{Backend, Setup};
use exec_core::{Detected, Result};

/// Takes the place of the backend of this name, so that a request for it is answered with a remedy.
#[derive(Debug)]
pub(crate) struct NotBuiltIn(pub(crate) &'static str);

#[async_trait]
impl Backend for NotBuiltIn {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &'static str {
        "Not built into this version"
    }

    async fn detect(&self, _: Setup) -> Result<Detected> {
        Ok(Detected::Missing {
            reason: "this sandbox is not built into this version".to_owned(),
            remedy: format!("use another sandbox, or a build with the feature `{}`", self.0).into(),
        })
    }
}
