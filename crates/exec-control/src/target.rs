//! Resolves targets to cells and runs: by the names of runs, cells, sessions or owners, never by appearance. Pure.

use exec_core::{Error, ErrorKind, Operation, Result};

use crate::record::RunRecord;
use crate::view::CellView;

/// A selection of cells and runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// All recorded cells, including idle warm ones.
    All,
    /// The run or cell of this name, or the only run whose name starts with it.
    Named(String),
    /// The sessions of this name.
    Session(String),
    /// Everything of this owner, by its id or pid.
    Owner(String),
}

/// One cell or run that a target resolves to.
#[derive(Debug, Clone)]
pub enum Meant<'a> {
    /// A whole cell.
    Cell(&'a CellView),
    /// One run of a cell that others use as well.
    Run(&'a CellView, &'a RunRecord),
}

impl Target {
    /// Resolves the target among these cells.
    ///
    /// # Errors
    ///
    /// Fails for a name or session that does not exist, or a prefix of several runs. `All` and `Owner` may be
    /// empty.
    pub fn among<'a>(&self, cells: &'a [CellView]) -> Result<Vec<Meant<'a>>> {
        match self {
            Self::All => Ok(cells.iter().map(Meant::Cell).collect()),
            Self::Named(name) => named(name, cells).map(|meant| vec![meant]),
            Self::Session(session) => {
                let found: Vec<_> =
                    cells.iter().filter(|cell| cell.record.session.as_ref() == Some(session)).collect();
                if found.is_empty() {
                    return Err(nothing(format!("there is no session `{session}`")));
                }
                Ok(found.into_iter().map(Meant::Cell).collect())
            }
            Self::Owner(owner) => {
                let is_theirs = |cell: &&CellView| {
                    cell.record.owner.id == *owner || cell.record.owner.pid.to_string() == *owner
                };
                Ok(cells.iter().filter(is_theirs).map(Meant::Cell).collect())
            }
        }
    }
}

fn named<'a>(name: &str, cells: &'a [CellView]) -> Result<Meant<'a>> {
    if let Some(cell) = cells.iter().find(|cell| cell.record.name == name) {
        return Ok(Meant::Cell(cell));
    }
    let runs = || cells.iter().flat_map(|cell| cell.runs.iter().map(move |run| (cell, run)));
    let exact = runs().find(|(_, run)| run.id == name);
    let mut similar = runs().filter(|(_, run)| !name.is_empty() && run.id.starts_with(name));
    match (exact, similar.next(), similar.next()) {
        (Some((cell, run)), ..) | (None, Some((cell, run)), None) => Ok(of_run(cell, run)),
        (None, Some(_), Some(_)) => {
            Err(nothing(format!("more than one run has a name that begins with `{name}`")))
        }
        (None, None, _) => Err(nothing(format!("there is no run or cell `{name}`"))),
    }
}

/// The cell of its only run is meant as a whole.
fn of_run<'a>(cell: &'a CellView, run: &'a RunRecord) -> Meant<'a> {
    if cell.record.session.is_none() { Meant::Cell(cell) } else { Meant::Run(cell, run) }
}

fn nothing(message: String) -> Error {
    Error::new(ErrorKind::NotFound, "look", message).with_remedy(Operation::List)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::owner::Owner;
    use crate::record::{CellRecord, Moment};
    use crate::view::OwnerState;

    fn cell(name: &str, owner: &str, pid: u32, session: Option<&str>, runs: &[&str]) -> CellView {
        let owner = Owner { id: owner.into(), pid, start: None, world: None };
        let run = |id: &&str| RunRecord {
            id: (*id).to_owned(),
            cell: name.into(),
            backend: "local".into(),
            owner: owner.clone(),
            session: session.map(str::to_owned),
            pid: None,
            argv: Vec::new(),
            cwd: "/".into(),
            since: Moment(0),
        };
        CellView {
            runs: runs.iter().map(run).collect(),
            record: CellRecord {
                name: name.into(),
                backend: "local".into(),
                since: Moment(0),
                place: None,
                session: session.map(str::to_owned),
                owner,
            },
            load: None,
            owner: OwnerState::Alive,
        }
    }

    fn sample() -> Vec<CellView> {
        vec![
            cell("c1", "o1", 11, None, &["aa-1"]),
            cell("c2", "o1", 11, Some("main"), &["ab-1", "ab-2"]),
            cell("c3", "o2", 12, None, &[]),
        ]
    }

    fn names(target: &Target) -> Result<Vec<String>> {
        let cells = sample();
        let name = |meant: &Meant<'_>| match meant {
            Meant::Cell(cell) => cell.record.name.clone(),
            Meant::Run(cell, run) => format!("{}/{}", cell.record.name, run.id),
        };
        target.among(&cells).map(|meant| meant.iter().map(name).collect())
    }

    /// R13
    #[rstest]
    #[case::all(Target::All, &["c1", "c2", "c3"])]
    #[case::run(Target::Named("aa-1".into()), &["c1"])]
    #[case::begin_of_a_run(Target::Named("aa".into()), &["c1"])]
    #[case::run_of_a_session(Target::Named("ab-2".into()), &["c2/ab-2"])]
    #[case::cell(Target::Named("c3".into()), &["c3"])]
    #[case::session(Target::Session("main".into()), &["c2"])]
    #[case::owner(Target::Owner("o1".into()), &["c1", "c2"])]
    #[case::owner_by_its_process(Target::Owner("12".into()), &["c3"])]
    #[case::owner_without_anything(Target::Owner("o9".into()), &[])]
    fn what_is_meant(#[case] target: Target, #[case] expected: &[&str]) {
        assert_eq!(names(&target).unwrap(), expected);
    }

    #[rstest]
    #[case::ambiguous(Target::Named("ab".into()))]
    #[case::unknown(Target::Named("zz".into()))]
    #[case::empty(Target::Named(String::new()))]
    #[case::session(Target::Session("other".into()))]
    fn what_means_nothing_is_an_error(#[case] target: Target) {
        let error = names(&target).unwrap_err();
        assert_eq!(error.remedy(), Some(&Operation::List.into()), "{error}");
    }
}
