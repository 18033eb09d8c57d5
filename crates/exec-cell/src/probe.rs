//! Makes a cell to learn its facts.

use std::fmt;

use exec_core::{Cmd, ExecOpts, Result};
use exec_wire::Facts;

use crate::cell::Cell;
use crate::maker::{CellIo, CellMaker};
use crate::plan::plan;

/// Greets a cell, reads the facts it found, and lets it end.
pub async fn probe(io: CellIo, backend: &str) -> Result<Facts> {
    Cell::connect(io, backend).await.map(|cell| cell.facts.clone())
}

/// A cell made before its executor, for a run that is already known.
pub struct FirstCell<S> {
    pub(crate) spec: S,
    pub(crate) cell: Cell,
}

impl<S: fmt::Debug> fmt::Debug for FirstCell<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstCell").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// Makes the cell that a run with these options will need, and reads the facts it found.
pub async fn first_cell<M: CellMaker>(maker: &M, opts: &ExecOpts) -> Result<(Facts, FirstCell<M::Spec>)> {
    let (_, spec) = plan(maker, &Cmd::new("true"), opts).await?;
    let cell = Cell::connect(maker.make(&spec).await?, maker.name()).await?;
    Ok((cell.facts.clone(), FirstCell { spec, cell }))
}
