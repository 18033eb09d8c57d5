//! Commands that keep running in the background.

mod command;
mod log;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exec_core::{Error, ErrorKind, Result};

pub(crate) use command::{Command, State};

/// The background commands of one toolbox, by number. Bounded: the oldest ended ones are forgotten.
#[derive(Debug)]
pub(crate) struct Background {
    most: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    commands: BTreeMap<u64, Arc<Command>>,
}

impl Background {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, inner: Mutex::default() }
    }

    /// Refuses a command if the maximum number is running.
    pub(crate) fn admit(&self) -> Result<()> {
        let running = self.inner().commands.values().filter(|command| command.is_running()).count();
        if running < self.most {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::ResourceExhausted,
            "call",
            format!("{running} background commands run already"),
        )
        .with_remedy("stop one with stop_command; sandbox_status lists them"))
    }

    /// Keeps a command and returns its number.
    pub(crate) fn add(&self, command: Command) -> u64 {
        let mut inner = self.inner();
        inner.last += 1;
        let id = inner.last;
        inner.commands.insert(id, Arc::new(command));
        while inner.commands.len() > 2 * self.most {
            let Some(old) =
                inner.commands.iter().find(|(_, command)| !command.is_running()).map(|(id, _)| *id)
            else {
                break;
            };
            inner.commands.remove(&old);
        }
        id
    }

    /// The command with this number.
    pub(crate) fn get(&self, id: u64) -> Result<Arc<Command>> {
        let inner = self.inner();
        inner.commands.get(&id).cloned().ok_or_else(|| {
            let known: Vec<String> = inner.commands.keys().map(u64::to_string).collect();
            let known = if known.is_empty() {
                "none was started; start one with start_command".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            Error::new(
                ErrorKind::NotFound,
                "call",
                format!("background command {id} does not exist: {known}"),
            )
        })
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<(u64, Arc<Command>)> {
        self.inner().commands.iter().map(|(id, command)| (*id, Arc::clone(command))).collect()
    }

    /// Kills all of them.
    pub(crate) fn clear(&self) {
        self.inner().commands.clear();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
