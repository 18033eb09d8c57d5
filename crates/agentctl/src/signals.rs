//! Signals to agentctl, and what each means for the run.
//!
//! | signal | first | once a stop was asked for |
//! |---|---|---|
//! | SIGINT, SIGQUIT | passed on; the command may handle it and go on | the run is killed |
//! | SIGTERM, SIGHUP | the run is cancelled: SIGTERM, its grace, SIGKILL | the run is killed |
//! | SIGUSR1, SIGUSR2 | passed on | passed on |
//!
//! A signal that arrives while the command is being started takes effect as soon as it runs; a second one
//! does not wait for that. If the parent process ignored SIGHUP (`nohup`), it stays ignored.

use std::io;

use exec_core::Signal;
use tokio::signal::unix::{self, SignalKind, signal};

/// A received signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// The user pressed a key for this.
    Interrupt(Signal),
    /// A request to end.
    Terminate,
    /// A signal between the caller and the command.
    Other(Signal),
    /// The terminal has another size.
    Resized,
    /// This process continues after a stop.
    Continued,
}

/// All signals that agentctl listens for.
#[derive(Debug)]
pub(crate) struct Signals {
    int: unix::Signal,
    quit: unix::Signal,
    term: unix::Signal,
    hup: Option<unix::Signal>,
    usr1: unix::Signal,
    usr2: unix::Signal,
    winch: unix::Signal,
    cont: unix::Signal,
}

impl Signals {
    /// From now on none of them ends this process.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            int: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            term: signal(SignalKind::terminate())?,
            hup: if hangups_are_ignored() { None } else { Some(signal(SignalKind::hangup())?) },
            usr1: signal(SignalKind::user_defined1())?,
            usr2: signal(SignalKind::user_defined2())?,
            winch: signal(SignalKind::window_change())?,
            cont: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Received {
        const USR2: Signal = match Signal::new(12) {
            Some(signal) => signal,
            None => Signal::USR1,
        };
        let hangup = async {
            match &mut self.hup {
                Some(hup) => hup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.int.recv() => Received::Interrupt(Signal::INT),
            _ = self.quit.recv() => Received::Interrupt(Signal::QUIT),
            _ = self.term.recv() => Received::Terminate,
            _ = hangup => Received::Terminate,
            _ = self.usr1.recv() => Received::Other(Signal::USR1),
            _ = self.usr2.recv() => Received::Other(USR2),
            _ = self.winch.recv() => Received::Resized,
            _ = self.cont.recv() => Received::Continued,
        }
    }

    /// The next one that asks for an end, before a run exists.
    pub(crate) async fn stop_asked(&mut self) -> Received {
        loop {
            let received = self.next().await;
            if matches!(received, Received::Interrupt(_) | Received::Terminate) {
                return received;
            }
        }
    }
}

/// The reaction to a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The command gets it.
    PassOn(Signal),
    /// The run ends politely.
    Cancel,
    /// The run ends now.
    Kill,
    /// The command's terminal follows ours.
    Resize,
    /// Our terminal is set up again.
    Resume,
}

/// Decides the reaction, and remembers an earlier request to end.
#[derive(Debug, Default)]
pub(crate) struct Escalation {
    asked: bool,
}

impl Escalation {
    /// The reaction to this signal.
    pub(crate) fn on(&mut self, received: Received) -> Action {
        match received {
            Received::Interrupt(_) | Received::Terminate if self.asked => Action::Kill,
            Received::Interrupt(signal) => {
                self.asked = true;
                Action::PassOn(signal)
            }
            Received::Terminate => {
                self.asked = true;
                Action::Cancel
            }
            Received::Other(signal) => Action::PassOn(signal),
            Received::Resized => Action::Resize,
            Received::Continued => Action::Resume,
        }
    }
}

fn hangups_are_ignored() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hangups(&status))
}

fn ignores_hangups(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R12
    #[test]
    fn the_second_request_kills() {
        let int = Received::Interrupt(Signal::INT);
        let mut interrupted = Escalation::default();
        assert_eq!(interrupted.on(int), Action::PassOn(Signal::INT));
        assert_eq!(interrupted.on(Received::Resized), Action::Resize);
        assert_eq!(interrupted.on(Received::Terminate), Action::Kill);
        let mut terminated = Escalation::default();
        assert_eq!(terminated.on(Received::Terminate), Action::Cancel);
        assert_eq!(terminated.on(int), Action::Kill);
    }

    #[test]
    fn the_commands_own_signals_ask_for_nothing() {
        let mut escalation = Escalation::default();
        for _ in 0..3 {
            assert_eq!(escalation.on(Received::Other(Signal::USR1)), Action::PassOn(Signal::USR1));
        }
    }

    #[test]
    fn nohup_is_seen() {
        assert!(ignores_hangups("Name:\tx\nSigIgn:\t0000000000001001\n"));
        assert!(!ignores_hangups("SigIgn:\t0000000000001000\n"));
        assert!(!ignores_hangups(""));
    }
}
