//! Executor selection: a pure function of the request and the candidates.

use crate::selection::by_name;
use crate::{
    Availability, Because, Candidate, Change, Error, ErrorKind, IsolationLevel, Needs, PassedOver, Remedy,
    Request, Result, Selection,
};

/// Chooses among `candidates`, most preferred first. `needs` returns what a run needs of the executor of that name; an
/// executor requested by name is not checked against it, because it refuses by itself what it can't do.
///
/// # Errors
///
/// `NotFound` if no candidate has the requested name. Otherwise the kind of the last refusal, with the reasons of all
/// and the remedy for the most preferred candidate.
pub fn select(
    request: &Request,
    needs: impl Fn(&str) -> Needs,
    candidates: &[Candidate],
) -> Result<Selection> {
    match request {
        Request::Named { name, floor } => named(name, *floor, candidates),
        Request::Auto { no_fallback, floor } => {
            auto(candidates, *no_fallback, |candidate| usable(candidate, *floor, &needs(&candidate.name)))
        }
    }
}

fn named(name: &str, floor: Option<IsolationLevel>, candidates: &[Candidate]) -> Result<Selection> {
    let found = candidates.iter().find(|candidate| candidate.name == name);
    let candidate = found.ok_or_else(|| unknown(name, candidates.iter().map(|c| c.name.as_str())))?;
    usable(candidate, floor, &Needs::default()).map_err(|refusal| refusal.into_error(name))?;
    Ok(Selection {
        requested: name.to_owned(),
        name: name.to_owned(),
        passed_over: Vec::new(),
        overruled: candidate.ruled_out.clone(),
    })
}

fn auto(
    candidates: &[Candidate],
    no_fallback: bool,
    fit: impl Fn(&Candidate) -> Result<(), Refusal>,
) -> Result<Selection> {
    let mut passed_over = Vec::new();
    let mut refusals = Vec::new();
    for candidate in candidates {
        let name = candidate.name.clone();
        if let Some(by) = &candidate.ruled_out {
            passed_over.push(PassedOver::ruled_out(name, by));
            continue;
        }
        match fit(candidate) {
            Ok(()) => {
                return Ok(Selection { requested: "auto".into(), name, passed_over, overruled: None });
            }
            Err(refusal) if no_fallback => return Err(refusal.into_error(&name)),
            Err(refusal) => {
                passed_over.push(refusal.passed_over(name));
                refusals.push(refusal);
            }
        }
    }
    Err(nothing_left(&passed_over, &refusals))
}

/// The last refusal determines the kind of error, because it alone stood between the request and a run; the first
/// determines the remedy, because that executor is the preferred one.
fn nothing_left(passed_over: &[PassedOver], refusals: &[Refusal]) -> Error {
    let (Some(first), Some(last)) = (refusals.first(), refusals.last()) else {
        let what =
            if passed_over.is_empty() { "no executor is registered" } else { "every executor is ruled out" };
        return Error::new(ErrorKind::NotFound, "select", what);
    };
    let reasons: Vec<String> =
        passed_over.iter().map(|other| format!("{}: {}", other.name, other.reason)).collect();
    Error::new(last.kind, "select", format!("no sandbox can be used ({})", reasons.join("; ")))
        .with_remedy(first.remedy.clone())
}

struct Refusal {
    kind: ErrorKind,
    because: Because,
    reason: String,
    remedy: Remedy,
}

impl Refusal {
    fn into_error(self, name: &str) -> Error {
        Error::new(self.kind, "select", self.reason).with_backend(name).with_remedy(self.remedy)
    }

    fn passed_over(&self, name: String) -> PassedOver {
        PassedOver { name, because: self.because, reason: self.reason.clone(), remedy: self.remedy.clone() }
    }

    fn unfit(kind: ErrorKind, reason: String, remedy: Remedy) -> Self {
        Self { kind, because: Because::Unfit, reason, remedy }
    }
}

fn usable(candidate: &Candidate, floor: Option<IsolationLevel>, needs: &Needs) -> Result<(), Refusal> {
    let has = match &candidate.availability {
        Availability::Ready(capabilities) => capabilities,
        Availability::Missing { reason, remedy } => {
            return Err(Refusal {
                kind: ErrorKind::Unavailable,
                because: Because::Missing,
                reason: reason.clone(),
                remedy: remedy.clone(),
            });
        }
        Availability::NotTried => {
            return Err(Refusal {
                kind: ErrorKind::Unavailable,
                because: Because::Missing,
                reason: "it was not searched for".into(),
                remedy: by_name(&candidate.name).into(),
            });
        }
    };
    if let Some(floor) = floor.filter(|floor| has.level < *floor) {
        let level = has.level;
        return Err(Refusal::unfit(
            ErrorKind::IsolationTooWeak,
            format!("its isolation here is `{level}`, the floor is `{floor}`"),
            Remedy::weaker_floor(level),
        ));
    }
    match needs.unmet(has) {
        None => Ok(()),
        Some((reason, option)) => Err(Refusal::unfit(
            ErrorKind::Unsupported,
            reason,
            Remedy::from(Change::leave_out(option)).or(Remedy::container()),
        )),
    }
}

pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.collect();
    let listed = if known.is_empty() { "nothing is registered".to_owned() } else { known.join(", ") };
    Error::new(ErrorKind::NotFound, "select", format!("there is no executor `{name}`"))
        .with_remedy(format!("use one of these: {listed}"))
}

#[cfg(test)]
mod tests;
