//! What a case is.

use std::fmt;
use std::pin::Pin;

use exec_core::{Capabilities, Claim, Exception};

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
    /// What an executor must be able to do for the case to make sense.
    pub needs: &'static [Need],
    /// Shows it.
    pub run: fn(Ctx) -> CaseFuture,
}

/// What a case needs of an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// That it claims this.
    Claim(Claim),
    /// That its contract is without this exception.
    No(Exception),
    /// Terminals.
    Terminals,
    /// Sessions.
    Sessions,
}

impl Need {
    /// Why the case can't be shown on an executor with these capabilities.
    pub(crate) fn missing(self, capabilities: &Capabilities) -> Option<String> {
        match self {
            Self::Claim(claim) => (!capabilities.claims(claim)).then(|| format!("not claimed: {claim:?}")),
            Self::No(exception) => (!capabilities.keeps(exception)).then(|| format!("excepted: {exception}")),
            Self::Terminals => (!capabilities.tty).then(|| "it has no terminals".to_owned()),
            Self::Sessions => (!capabilities.sessions).then(|| "it has no sessions".to_owned()),
        }
    }
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

/// A case from its function, what it shows, the claims it needs, and after a semicolon what else it needs.
macro_rules! case {
    ($function:ident, $shows:literal $(, $claim:ident)* $(; $($need:expr),+)?) => {
        $crate::case::Case {
            name: stringify!($function),
            shows: $shows,
            needs: &[$($crate::case::Need::Claim(exec_core::Claim::$claim),)* $($($need),+)?],
            run: |ctx| Box::pin($function(ctx)),
        }
    };
}
pub(crate) use case;
