//! Cells that stay: one per session, shared by its commands.

use std::collections::HashMap;
use std::sync::Arc;

use exec_core::{Error, ErrorKind, Result, SessionName};
use tokio::sync::Mutex;

use crate::cell::{Cell, Standing};
use crate::maker::CellMaker;
use crate::pool::Pool;

/// Why a session was reopened.
const ENDED: &str = "its sandbox had ended";
const FENCED: &str = "what the host takes orders from, such as `.git`, has changed in the workspace, and the sandbox did not yet \
                      keep it as it is";

#[derive(Debug)]
struct Session<S> {
    spec: S,
    /// The specification without the mounts that keep files unchanged: it differs only if the options do.
    asked: S,
    cell: Arc<Cell>,
    standing: Standing,
}

/// A session's cell, as handed to a run.
#[derive(Debug)]
pub(crate) struct Seated {
    pub(crate) cell: Arc<Cell>,
    pub(crate) standing: Standing,
    /// Why this is not the cell of the session's last run, if it is another.
    pub(crate) reopened: Option<&'static str>,
}

/// The open sessions of an executor. They end with it, or on request.
#[derive(Debug)]
pub(crate) struct Sessions<M: CellMaker>(Mutex<HashMap<SessionName, Session<M::Spec>>>);

impl<M: CellMaker> Sessions<M> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    /// Returns the session's cell. Makes one if the session is new, its cell has died, or the workspace has new entries
    /// that the cell doesn't keep unchanged. In the last case the old cell ends first: its processes could write there.
    pub(crate) async fn cell(
        &self,
        name: &SessionName,
        spec: &M::Spec,
        asked: impl FnOnce() -> Result<M::Spec>,
        pool: &Pool<M>,
    ) -> Result<Seated> {
        let mut sessions = self.0.lock().await;
        let known = sessions.get(name);
        if let Some(Session { cell, standing, .. }) =
            known.filter(|session| session.cell.is_alive() && session.spec == *spec)
        {
            return Ok(Seated { cell: Arc::clone(cell), standing: standing.clone(), reopened: None });
        }
        let asked = asked()?;
        let reopened = match known {
            None => None,
            Some(session) if !session.cell.is_alive() => Some(ENDED),
            Some(session) if session.asked == asked => {
                session.cell.end().await;
                Some(FENCED)
            }
            Some(_) => return Err(other_options(name)),
        };
        let ready = pool.take(spec).await?;
        let cell = Arc::new(ready.cell);
        cell.seat.serves(name.as_str());
        let standing = ready.standing;
        let session =
            Session { spec: spec.clone(), asked, cell: Arc::clone(&cell), standing: standing.clone() };
        sessions.insert(name.clone(), session);
        Ok(Seated { cell, standing, reopened })
    }

    /// Ends a session and returns when nothing of it is left.
    pub(crate) async fn end(&self, name: &SessionName) {
        let session = self.0.lock().await.remove(name);
        if let Some(session) = session {
            session.cell.end().await;
        }
    }

    pub(crate) async fn len(&self) -> usize {
        self.0.lock().await.values().filter(|session| session.cell.is_alive()).count()
    }
}

fn other_options(name: &SessionName) -> Error {
    let what =
        format!("the session `{}` was opened with other mounts, limits, user or network", name.as_str());
    Error::new(ErrorKind::InvalidInput, "start", what)
        .with_remedy("end it first, or use the options it was opened with")
}
