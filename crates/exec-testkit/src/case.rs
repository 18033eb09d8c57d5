//! The definition of a case.

use std::fmt;
use std::pin::Pin;

use exec_core::{Capabilities, Claim, Exception};

use crate::Ctx;

/// A running case.
pub type CaseFuture = Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send>>;

/// One property of an executor and the function that tests it.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name, without the group.
    pub name: &'static str,
    /// The requirements, attacks and faults it covers.
    pub shows: &'static str,
    /// The capabilities an executor needs for the case to make sense.
    pub needs: &'static [Need],
    /// Runs the case.
    pub run: fn(Ctx) -> CaseFuture,
}

/// A capability that a case needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The executor makes this claim.
    Claim(Claim),
    /// The executor's contract does not have this exception.
    No(Exception),
    /// Terminals.
    Terminals,
    /// Sessions.
    Sessions,
}

impl Need {
    /// Why the case does not apply to an executor with these capabilities.
    pub(crate) fn missing(self, capabilities: &Capabilities) -> Option<String> {
        match self {
            Self::Claim(claim) => (!capabilities.claims(claim)).then(|| format!("not claimed: {claim:?}")),
            Self::No(exception) => (!capabilities.keeps(exception)).then(|| format!("excepted: {exception}")),
            Self::Terminals => (!capabilities.tty).then(|| "it has no terminals".to_owned()),
            Self::Sessions => (!capabilities.sessions).then(|| "it has no sessions".to_owned()),
        }
    }
}

/// The error of a case that can't be shown on this host.
#[derive(Debug)]
pub struct Skip(pub String);

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't be shown here: {}", self.0)
    }
}

impl std::error::Error for Skip {}

/// A case from its function, the numbers it covers, the claims it needs, and after a semicolon its other
/// needs.
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
