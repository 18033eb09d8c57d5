//! Which executor to use: a pure function of what was asked for and what there is.

use crate::{Error, ErrorKind, IsolationLevel, Result};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The first that works, in the order of preference.
    Auto {
        /// Refuse, rather than use anything but the most preferred.
        no_fallback: bool,
        /// Refuse anything weaker than this.
        floor: Option<IsolationLevel>,
    },
    /// This one and no other.
    Named {
        /// Its name.
        name: String,
        /// Refuse it if it is weaker than this.
        floor: Option<IsolationLevel>,
    },
}

/// One executor as far as choosing is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Whether it can be used.
    pub availability: Availability,
}

/// Whether an executor can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It works and its cells have this level.
    Ready(IsolationLevel),
    /// It does not work.
    Missing {
        /// What was found.
        reason: String,
        /// What would make it work.
        remedy: String,
    },
}

/// A choice and its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Name of the chosen one.
    pub name: String,
    /// Those that were preferred but not chosen, each with the reason.
    pub passed_over: Vec<(String, String)>,
}

/// Chooses among `candidates`, most preferred first.
pub fn select(request: &Request, candidates: &[Candidate]) -> Result<Selection> {
    match request {
        Request::Named { name, floor } => {
            let candidate = candidates.iter().find(|candidate| candidate.name == *name);
            let candidate =
                candidate.ok_or_else(|| unknown(name, candidates.iter().map(|c| c.name.as_str())))?;
            match usable(candidate, *floor) {
                Ok(()) => Ok(Selection { name: name.clone(), passed_over: Vec::new() }),
                Err(refusal) => Err(refusal.into_error(name)),
            }
        }
        Request::Auto { no_fallback, floor } => auto(candidates, *no_fallback, *floor),
    }
}

fn auto(candidates: &[Candidate], no_fallback: bool, floor: Option<IsolationLevel>) -> Result<Selection> {
    let mut passed_over = Vec::new();
    let mut last_refusal = None;
    for candidate in candidates {
        match usable(candidate, floor) {
            Ok(()) => return Ok(Selection { name: candidate.name.clone(), passed_over }),
            Err(refusal) if no_fallback => return Err(refusal.into_error(&candidate.name)),
            Err(refusal) => {
                passed_over.push((candidate.name.clone(), refusal.reason.clone()));
                last_refusal = Some((refusal, candidate));
            }
        }
    }
    let Some((refusal, _)) = last_refusal else {
        return Err(Error::new(ErrorKind::NotFound, "select", "no executor is registered"));
    };
    let reasons: Vec<String> = passed_over.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
    Err(Error::new(refusal.kind, "select", format!("no sandbox can be used ({})", reasons.join("; ")))
        .with_remedy(refusal.remedy))
}

struct Refusal {
    kind: ErrorKind,
    reason: String,
    remedy: String,
}

impl Refusal {
    fn into_error(self, name: &str) -> Error {
        Error::new(self.kind, "select", self.reason).with_backend(name).with_remedy(self.remedy)
    }
}

fn usable(candidate: &Candidate, floor: Option<IsolationLevel>) -> Result<(), Refusal> {
    match (&candidate.availability, floor) {
        (Availability::Missing { reason, remedy }, _) => {
            Err(Refusal { kind: ErrorKind::Unavailable, reason: reason.clone(), remedy: remedy.clone() })
        }
        (Availability::Ready(level), Some(floor)) if *level < floor => Err(Refusal {
            kind: ErrorKind::IsolationTooWeak,
            reason: format!("its isolation here is `{level}`, the floor is `{floor}`"),
            remedy: format!("use a stronger sandbox or lower the floor with --min-isolation {level}"),
        }),
        _ => Ok(()),
    }
}

pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.collect();
    let listed = if known.is_empty() { "nothing is registered".to_owned() } else { known.join(", ") };
    Error::new(ErrorKind::NotFound, "select", format!("there is no executor `{name}`"))
        .with_remedy(format!("use one of these: {listed}"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use IsolationLevel::{Container, Namespaces, Subreaper};

    fn ready(name: &str, level: IsolationLevel) -> Candidate {
        Candidate { name: name.into(), availability: Availability::Ready(level) }
    }

    fn missing(name: &str) -> Candidate {
        let availability =
            Availability::Missing { reason: "no socket".into(), remedy: format!("start {name}") };
        Candidate { name: name.into(), availability }
    }

    fn auto_with(no_fallback: bool, floor: Option<IsolationLevel>) -> Request {
        Request::Auto { no_fallback, floor }
    }

    fn named(name: &str, floor: Option<IsolationLevel>) -> Request {
        Request::Named { name: name.into(), floor }
    }

    /// R6, R62
    #[rstest]
    #[case::first_that_works(auto_with(false, None), vec![ready("docker", Container), ready("local", Namespaces)], Ok("docker"))]
    #[case::falls_back(auto_with(false, None), vec![missing("docker"), ready("local", Namespaces)], Ok("local"))]
    #[case::no_fallback(auto_with(true, None), vec![missing("docker"), ready("local", Namespaces)], Err(ErrorKind::Unavailable))]
    #[case::floor_skips(auto_with(false, Some(Container)), vec![ready("local", Namespaces), ready("docker", Container)], Ok("docker"))]
    #[case::floor_refuses(auto_with(false, Some(Namespaces)), vec![ready("local", Subreaper)], Err(ErrorKind::IsolationTooWeak))]
    #[case::nothing_works(auto_with(false, None), vec![missing("docker"), missing("podman")], Err(ErrorKind::Unavailable))]
    #[case::nothing_there(auto_with(false, None), vec![], Err(ErrorKind::NotFound))]
    #[case::named(named("local", None), vec![ready("docker", Container), ready("local", Namespaces)], Ok("local"))]
    #[case::named_never_falls_back(named("docker", None), vec![missing("docker"), ready("local", Namespaces)], Err(ErrorKind::Unavailable))]
    #[case::named_unknown(named("dokcer", None), vec![ready("docker", Container)], Err(ErrorKind::NotFound))]
    #[case::named_too_weak(named("local", Some(Container)), vec![ready("local", Namespaces)], Err(ErrorKind::IsolationTooWeak))]
    fn chooses(
        #[case] request: Request,
        #[case] candidates: Vec<Candidate>,
        #[case] expected: Result<&str, ErrorKind>,
    ) {
        let got = select(&request, &candidates);
        assert_eq!(got.as_ref().map(|s| s.name.as_str()).map_err(Error::kind), expected, "{got:?}");
        if let Err(error) = got {
            assert!(expected == Err(ErrorKind::NotFound) || error.remedy().is_some(), "{error}");
        }
    }

    /// R6
    #[test]
    fn says_who_was_passed_over_and_why() {
        let selection =
            select(&auto_with(false, None), &[missing("docker"), ready("local", Namespaces)]).unwrap();
        assert_eq!(selection.passed_over, [("docker".into(), "no socket".into())]);
    }
}
