//! What a case is.

use std::fmt;
use std::pin::Pin;

use exec_core::Claim;

use crate::Ctx;

/// A case under way.
pub type CaseFuture = Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send>>;

/// One property of an executor and how it is shown.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name, without the group's.
    pub name: &'static str,
    /// The requirements, attacks and faults it shows.
    pub shows: &'static str,
    /// What an executor must claim for the case to make sense.
    pub needs: &'static [Claim],
    /// Shows it.
    pub run: fn(Ctx) -> CaseFuture,
}

/// A case that this host gives no way to show, as an error of its function.
#[derive(Debug)]
pub struct Skip(pub String);

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't be shown here: {}", self.0)
    }
}

impl std::error::Error for Skip {}

/// A case from its function, what it shows, and the claims it needs.
macro_rules! case {
    ($function:ident, $shows:literal $(, $claim:ident)*) => {
        $crate::case::Case {
            name: stringify!($function),
            shows: $shows,
            needs: &[$(exec_core::Claim::$claim),*],
            run: |ctx| Box::pin($function(ctx)),
        }
    };
}
pub(crate) use case;
