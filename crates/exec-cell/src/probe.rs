//! Making a cell only to learn what it is.

use exec_core::Result;
use exec_wire::Facts;

use crate::cell::Cell;
use crate::maker::CellIo;

/// Greets a cell, reads what it found out about itself, and lets it end.
pub async fn probe(io: CellIo, backend: &str) -> Result<Facts> {
    Cell::connect(io, backend).await.map(|cell| cell.facts.clone())
}
