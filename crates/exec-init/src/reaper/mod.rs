//! The process that outlives the host to remove the host's containers.
//!
//! When the host is killed, a container that was created and never started would stay forever, and one
//! without our PID 1 would even keep running. So the host announces every container to this process before it
//! creates it, on a pipe that the kernel closes however the host ends. Then the reaper removes the remaining
//! containers through the engine. It knows containers by name only, not their contents or purpose.

mod fifo_channels;
mod http;
mod ledger;
mod socket;
mod sweep;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use exec_wire::reaper::{Address, Directory, Name};

use crate::helper::{self, Output, read_stdin};
use crate::{records, sys};
use ledger::Ledger;
use socket::{Exchange, TimeOuts};
use sweep::{Answer, Bounds, Removal, World};

const BOUNDS: Bounds = Bounds {
    removal: Removal::Final,
    absent: Duration::from_secs(5),
    patience: Duration::from_secs(30),
    pause: Duration::from_millis(100),
    together: 8,
};

const TIME_OUTS: TimeOuts = TimeOuts { connect: Duration::from_secs(2), answer: Duration::from_secs(10) };

/// Reads from the host until the stream ends, then removes the containers left over. Fails if the host sent
/// nonsense or a container could not be removed.
pub(crate) fn run() -> ExitCode {
    outlive_the_host();
    let mut ledger = Ledger::default();
    let heard = listen(&mut ledger);
    let bounds = Bounds { removal: ledger.removal(), ..BOUNDS };
    let (fifo_channels, records) = (ledger.fifo_channels(), ledger.records());
    let log_note = ledger.log_note();
    let swept = match ledger.close() {
        Some((address, targets)) => {
            let names: Vec<Name> = targets.iter().map(|target| target.name.clone()).collect();
            let mut engine = Engine { address, time_outs: TIME_OUTS, fifo_channels };
            // Immediately: no process is left to create or use a FIFO channel, and engines are slow.
            engine.clear_fifo_channels();
            let swept = sweep::sweep(targets, &mut engine, &bounds);
            engine.clear_fifo_channels();
            // A living host forgets a container before it releases the reaper. A host that did not will not
            // remove the record any more, although its process may take another moment to end.
            if swept.is_ok() {
                let record =
                    |name: &Name, prefix: &Directory| [prefix.as_bytes(), name.as_str().as_bytes()].concat();
                let of = |name| records.iter().map(move |prefix| record(name, prefix));
                records::remove(names.iter().flat_map(of), log_note.as_ref().map(Directory::as_bytes));
            }
            swept
        }
        None => Ok(()),
    };
    if heard.is_ok() && swept.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn outlive_the_host() {
    helper::cut_loose();
    // Standard output stays open: it keeps alive what has to last as long as the reaper works.
    Output::Stderr.mute();
    // Process lists may show another name.
    let _ = rustix::thread::set_name(c"exec-reaper");
}

/// The host sent an invalid order, or can't be read.
struct Nonsense;

fn listen(ledger: &mut Ledger) -> Result<(), Nonsense> {
    let mut buffer = [0; 4096];
    loop {
        match read_stdin(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                ledger.feed(buffer.get(..count).unwrap_or_default()).map_err(|_| Nonsense)?;
            }
            Err(_) => return Err(Nonsense),
        }
    }
}

/// The real engine, and the real clock.
struct Engine {
    address: Address,
    time_outs: TimeOuts,
    fifo_channels: Option<Directory>,
}

impl Engine {
    /// Repeated while containers may still be on their way: an engine that does not find a mount source may
    /// create it, as Podman does.
    fn clear_fifo_channels(&self) {
        self.fifo_channels.iter().for_each(fifo_channels::clear);
    }
}

impl World for Engine {
    type Asked = Option<Exchange>;

    fn ask(&mut self, name: &Name) -> Self::Asked {
        Exchange::begin(&self.address, &http::removal(name), self.time_outs).ok()
    }

    fn answer(&mut self, asked: Self::Asked) -> Answer {
        let status = asked.and_then(Exchange::status);
        status.map_or(Answer::Trouble, Answer::of_status)
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn pause(&mut self, time: Duration) {
        self.clear_fifo_channels();
        sys::pause(time);
    }
}

#[cfg(test)]
mod tests;
