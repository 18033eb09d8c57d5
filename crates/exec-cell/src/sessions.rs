//! Cells that stay: one per session, shared by its commands.

use std::collections::HashMap;
use std::sync::Arc;

use exec_core::{Error, ErrorKind, Result, SessionName};
use tokio::sync::Mutex;

use crate::cell::{Cell, Standing};
use crate::maker::CellMaker;
use crate::pool::Pool;

#[derive(Debug)]
struct Session<S> {
    spec: S,
    cell: Arc<Cell>,
    standing: Standing,
}

/// The open sessions of an executor. They end with it, or when asked.
#[derive(Debug)]
pub(crate) struct Sessions<M: CellMaker>(Mutex<HashMap<SessionName, Session<M::Spec>>>);

impl<M: CellMaker> Sessions<M> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    /// The session's cell; made when the session is new or its cell has died.
    pub(crate) async fn cell(
        &self,
        name: &SessionName,
        spec: &M::Spec,
        pool: &Pool<M>,
    ) -> Result<(Arc<Cell>, Standing)> {
        let mut sessions = self.0.lock().await;
        if let Some(session) = sessions.get(name).filter(|session| session.cell.is_alive()) {
            if session.spec != *spec {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "start",
                    format!(
                        "the session `{}` was opened with other mounts, limits, user or network",
                        name.as_str()
                    ),
                )
                .with_remedy(
                    "end it first, or use the options it was opened with; a `.git` that has appeared since is a mount too",
                ));
            }
            return Ok((Arc::clone(&session.cell), session.standing.clone()));
        }
        let ready = pool.take(spec).await?;
        let cell = Arc::new(ready.cell);
        cell.seat.serves(name.as_str());
        let session =
            Session { spec: spec.clone(), cell: Arc::clone(&cell), standing: ready.standing.clone() };
        sessions.insert(name.clone(), session);
        Ok((cell, ready.standing))
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
