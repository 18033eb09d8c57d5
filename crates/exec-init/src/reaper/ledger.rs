//! The containers that may exist, as far as the host has reported.

use exec_wire::WireError;
use exec_wire::reaper::{Address, Directory, MAX_NAMES, Name, Order};

use super::sweep::{Removal, Target};

/// The most records of one container; real ones have fewer.
const MOST_RECORDS: usize = 8;

/// The engine and the watched names, from the bytes of the stream.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    engine: Option<Address>,
    fifo_channels: Option<Directory>,
    records: Vec<Directory>,
    log_note: Option<Directory>,
    removal: Option<Removal>,
    watched: Vec<Watched>,
    /// An incomplete line.
    unfinished: Vec<u8>,
}

#[derive(Debug)]
struct Watched {
    name: Name,
    /// It was created; otherwise it may have been, or may still be.
    made: bool,
}

impl Ledger {
    /// Takes bytes as they come. After an error the rest of the stream is meaningless; earlier entries stay.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let mut text = std::mem::take(&mut self.unfinished);
        text.extend_from_slice(bytes);
        let mut rest = text.as_slice();
        while let Some((order, after)) = Order::split(rest)? {
            self.obey(order)?;
            rest = after;
        }
        self.unfinished = rest.to_vec();
        Ok(())
    }

    fn obey(&mut self, order: Order) -> Result<(), WireError> {
        match (order, &self.engine) {
            (Order::Engine(engine), None) => self.engine = Some(engine),
            (Order::Engine(_), Some(_)) | (_, None) => return Err(WireError::BadValue("engine")),
            (Order::FifoChannels(fifo_channels), Some(_)) if self.fifo_channels.is_none() => {
                self.fifo_channels = Some(fifo_channels);
            }
            (Order::FifoChannels(_), Some(_)) => return Err(WireError::BadValue("FIFO channels")),
            (Order::Records(prefix), Some(_)) if self.records.len() < MOST_RECORDS => {
                self.records.push(prefix);
            }
            (Order::Records(_), Some(_)) => return Err(WireError::BadValue("records")),
            (Order::LogNote(path), Some(_)) => self.log_note = Some(path),
            (Order::Recheck, Some(_)) => self.removal = Some(Removal::MayReappear),
            (Order::Watch(name), Some(_)) => return self.watch(name),
            (Order::Made(name), Some(_)) => {
                for watched in self.watched.iter_mut().filter(|watched| watched.name == name) {
                    watched.made = true;
                }
            }
            (Order::Forget(name), Some(_)) => self.watched.retain(|watched| watched.name != name),
        }
        Ok(())
    }

    fn watch(&mut self, name: Name) -> Result<(), WireError> {
        if self.watched.iter().any(|watched| watched.name == name) {
            return Ok(());
        }
        if self.watched.len() == MAX_NAMES {
            return Err(WireError::BadValue("count"));
        }
        self.watched.push(Watched { name, made: false });
        Ok(())
    }

    /// The directory of the FIFO channels to remove.
    pub(super) fn fifo_channels(&mut self) -> Option<Directory> {
        self.fifo_channels.take()
    }

    /// The path prefixes of the containers' records.
    pub(super) fn records(&mut self) -> Vec<Directory> {
        std::mem::take(&mut self.records)
    }

    /// The note that marks the log of runs as checked.
    pub(super) fn log_note(&mut self) -> Option<Directory> {
        self.log_note.take()
    }

    /// Whether a removal by the engine is final.
    pub(super) fn removal(&self) -> Removal {
        self.removal.unwrap_or(Removal::Final)
    }

    /// The containers to remove, if any. An incomplete line is ignored.
    pub(super) fn close(self) -> Option<(Address, Vec<Target>)> {
        let target = |watched: Watched| {
            if watched.made { Target::made(watched.name) } else { Target::expected(watched.name) }
        };
        let targets: Vec<Target> = self.watched.into_iter().map(target).collect();
        self.engine.filter(|_| !targets.is_empty()).map(|engine| (engine, targets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINE: &str = "engine unix /e\n";

    /// Whether the text was understood, and the remaining names.
    fn after(text: &str) -> (bool, Vec<String>) {
        let mut ledger = Ledger::default();
        let understood = ledger.feed(text.as_bytes()).is_ok();
        let targets = ledger.close().map(|(_, targets)| targets).unwrap_or_default();
        (understood, targets.iter().map(|target| target.name.to_string()).collect())
    }

    #[test]
    fn watched_and_not_forgotten_containers_are_left() {
        let (understood, names) = after(&format!("{ENGINE}watch a\nwatch b\nforget a\nwatch c\nwatch b\n"));
        assert!(understood);
        assert_eq!(names, ["b", "c"]);
    }

    #[test]
    fn made_containers_are_known_to_exist() {
        let mut ledger = Ledger::default();
        ledger.feed(format!("{ENGINE}watch a\nwatch b\nmade b\nmade z\n").as_bytes()).unwrap();
        let name = |text| Name::new(text).unwrap();
        let expected = [Target::expected(name("a")), Target::made(name("b"))];
        assert_eq!(ledger.close().unwrap().1, expected);
    }

    #[test]
    fn nothing_is_left_of_nothing() {
        for text in ["", ENGINE, "engine un", &format!("{ENGINE}watch a\nforget a\nforget z\n")] {
            assert_eq!(after(text), (true, vec![]), "{text}");
        }
    }

    #[test]
    fn bytes_may_come_one_by_one() {
        let mut ledger = Ledger::default();
        for byte in format!("{ENGINE}watch a\nwatch b\nforget a\n").bytes() {
            ledger.feed(&[byte]).unwrap();
        }
        assert_eq!(ledger.close().unwrap().1, [Target::expected(Name::new("b").unwrap())]);
    }

    #[test]
    fn an_incomplete_line_is_ignored() {
        assert_eq!(after(&format!("{ENGINE}watch a\nforget a")), (true, vec!["a".to_owned()]));
    }

    #[test]
    fn entries_before_nonsense_are_kept() {
        let twice = "lanes /l\nlanes /m\n";
        for nonsense in ["nonsense\n", "watch ../x\n", "lanes l\n", twice, ENGINE, &"x".repeat(300)] {
            let text = format!("{ENGINE}watch a\n{nonsense}");
            assert_eq!(after(&text), (false, vec!["a".to_owned()]), "{nonsense}");
        }
    }

    #[test]
    fn an_engine_may_be_doubted() {
        let mut ledger = Ledger::default();
        ledger.feed(ENGINE.as_bytes()).unwrap();
        assert_eq!(ledger.removal(), Removal::Final);
        ledger.feed(b"recheck\n").unwrap();
        assert_eq!(ledger.removal(), Removal::MayReappear);
    }

    #[test]
    fn the_engine_comes_first() {
        assert_eq!(after("watch a\n"), (false, vec![]));
    }

    #[test]
    fn the_list_is_bounded() {
        let watch = |number| format!("watch n{number}\n");
        let full: String = (0..MAX_NAMES).map(watch).collect();
        let (understood, names) = after(&format!("{ENGINE}{full}{}", watch(7)));
        assert!(understood);
        assert_eq!(names.len(), MAX_NAMES);
        let (understood, names) = after(&format!("{ENGINE}{full}{}", watch(MAX_NAMES)));
        assert!(!understood);
        assert_eq!(names.len(), MAX_NAMES);
    }
}
