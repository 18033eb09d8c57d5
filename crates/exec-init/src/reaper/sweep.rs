//! Decides when a container counts as gone, and for how long to retry its removal. Knows neither sockets nor
//! the clock.

use std::time::{Duration, Instant};

use exec_wire::reaper::Name;

/// The engine's answer to the removal of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It existed and is gone.
    Removed,
    /// No container has that name.
    Absent,
    /// It is already being removed.
    Leaving,
    /// An unhelpful answer, or none at all.
    Trouble,
}

impl Answer {
    pub(super) fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Removed,
            404 => Self::Absent,
            409 => Self::Leaving,
            _ => Self::Trouble,
        }
    }
}

/// Whether a removal by the engine is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Removal {
    /// It is gone.
    Final,
    /// A container that was being created may still appear: some engines remove the part they find and
    /// continue.
    MayReappear,
}

/// Time limits of a sweep.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Whether a removal by the engine is final.
    pub(super) removal: Removal,
    /// A container may appear this long after the engine first reported it absent: its creation was under way
    /// when the host ended.
    pub(super) absent: Duration,
    /// If no container goes away for this long, the rest stay.
    pub(super) patience: Duration,
    /// Between two rounds.
    pub(super) pause: Duration,
    /// Concurrent requests, so that one the engine is stuck on does not hold up all others.
    pub(super) together: usize,
}

/// An engine and a clock.
pub(super) trait World {
    /// A pending request.
    type Asked;

    fn ask(&mut self, name: &Name) -> Self::Asked;
    fn answer(&mut self, asked: Self::Asked) -> Answer;
    fn now(&self) -> Instant;
    fn pause(&mut self, time: Duration);
}

/// Some containers could not be removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeftBehind;

/// Removes the containers, round by round: one that can't be removed yet does not hold up the others.
pub(super) fn sweep(
    mut left: Vec<Target>,
    world: &mut impl World,
    bounds: &Bounds,
) -> Result<(), LeftBehind> {
    let mut progress = world.now();
    loop {
        let mut round = std::mem::take(&mut left).into_iter().peekable();
        while round.peek().is_some() {
            let batch: Vec<Target> = round.by_ref().take(bounds.together.max(1)).collect();
            let asked_for = batch.len();
            let stay = remove(batch, world, bounds);
            if stay.len() < asked_for {
                progress = world.now();
            } else if world.now() - progress >= bounds.patience {
                return Err(LeftBehind);
            }
            left.extend(stay);
        }
        if left.is_empty() {
            return Ok(());
        }
        world.pause(bounds.pause);
    }
}

/// Tries a few at once and returns those that remain.
fn remove(batch: Vec<Target>, world: &mut impl World, bounds: &Bounds) -> Vec<Target> {
    let asked: Vec<_> = batch.into_iter().map(|target| (world.ask(&target.name), target)).collect();
    let mut stay = Vec::new();
    for (asked, target) in asked {
        let answer = world.answer(asked);
        stay.extend(target.after(answer, world.now(), bounds));
    }
    stay
}

/// A container to remove, and what is known of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: Name,
    known: Known,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    AbsentSince(Instant),
    Existed,
    /// Created completely: nothing under way could make it reappear.
    Made,
}

impl Target {
    /// A container that was about to be created.
    pub(super) fn expected(name: Name) -> Self {
        Self { name, known: Known::Nothing }
    }

    /// A container that was created.
    pub(super) fn made(name: Name) -> Self {
        Self { name, known: Known::Made }
    }

    /// What remains to do after an answer, if anything.
    fn after(self, answer: Answer, now: Instant, bounds: &Bounds) -> Option<Self> {
        let known = match (answer, self.known) {
            (Answer::Removed | Answer::Absent, Known::Made) => return None,
            (_, Known::Made) => Known::Made,
            (Answer::Removed, _) if bounds.removal == Removal::MayReappear => Known::AbsentSince(now),
            (Answer::Removed, _) | (Answer::Absent, Known::Existed) => return None,
            (Answer::Absent, Known::AbsentSince(since)) if now - since >= bounds.absent => return None,
            (Answer::Absent, Known::Nothing) => Known::AbsentSince(now),
            (Answer::Leaving, _) => Known::Existed,
            (Answer::Trouble | Answer::Absent, known) => known,
        };
        Some(Self { known, ..self })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    const BOUNDS: Bounds = Bounds {
        removal: Removal::Final,
        absent: Duration::from_secs(5),
        patience: Duration::from_secs(30),
        pause: Duration::from_secs(1),
        together: 2,
    };

    /// An engine with scripted answers, and a clock that only pauses advance.
    struct Script {
        began: Instant,
        now: Instant,
        answers: Vec<(&'static str, VecDeque<Answer>)>,
        asked: Vec<String>,
    }

    impl Script {
        /// The last answer for a name repeats.
        fn new(answers: &[(&'static str, &[Answer])]) -> Self {
            let began = Instant::now();
            let answers =
                answers.iter().map(|(name, list)| (*name, list.iter().copied().collect())).collect();
            Self { began, now: began, answers, asked: Vec::new() }
        }

        fn sweep(&mut self) -> Result<(), LeftBehind> {
            self.sweep_as(Removal::Final)
        }

        fn sweep_as(&mut self, removal: Removal) -> Result<(), LeftBehind> {
            let targets = self.answers.iter().map(|(name, _)| Target::expected(Name::new(*name).unwrap()));
            sweep(targets.collect(), self, &Bounds { removal, ..BOUNDS })
        }

        fn seconds(&self) -> u64 {
            (self.now - self.began).as_secs()
        }
    }

    impl World for Script {
        type Asked = String;

        fn ask(&mut self, name: &Name) -> String {
            self.asked.push(name.to_string());
            name.to_string()
        }

        fn answer(&mut self, asked: String) -> Answer {
            let (_, answers) = self.answers.iter_mut().find(|(name, _)| *name == asked).unwrap();
            if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0] }
        }

        fn now(&self) -> Instant {
            self.now
        }

        fn pause(&mut self, time: Duration) {
            self.now += time;
        }
    }

    use Answer::{Absent, Leaving, Removed, Trouble};

    #[test]
    fn an_existing_container_is_removed_at_once() {
        let mut script = Script::new(&[("a", &[Removed]), ("b", &[Removed]), ("c", &[Removed])]);
        assert_eq!(script.sweep(), Ok(()));
        assert_eq!(script.asked, ["a", "b", "c"]);
        assert_eq!(script.seconds(), 0);
    }

    #[test]
    fn a_pending_creation_is_awaited() {
        let mut script = Script::new(&[("a", &[Absent, Absent, Absent, Removed])]);
        assert_eq!(script.sweep(), Ok(()));
        assert_eq!(script.seconds(), 3);
    }

    #[test]
    fn a_container_that_never_appears_is_not_an_error() {
        let mut script = Script::new(&[("a", &[Absent])]);
        assert_eq!(script.sweep(), Ok(()));
        assert_eq!(script.seconds(), 5);
    }

    /// The engine may have been stuck with the creation in its queue.
    #[test]
    fn the_wait_begins_with_the_first_answer() {
        let mut script = Script::new(&[("a", &[Trouble, Trouble, Trouble, Absent])]);
        assert_eq!(script.sweep(), Ok(()));
        assert_eq!(script.seconds(), 8);
    }

    #[test]
    fn a_container_being_removed_is_gone_when_it_is_absent() {
        let mut script = Script::new(&[("a", &[Leaving, Leaving, Absent])]);
        assert_eq!(script.sweep(), Ok(()));
        assert_eq!(script.seconds(), 2);
    }

    #[test]
    fn a_late_container_does_not_hold_up_the_others() {
        let mut script = Script::new(&[
            ("a", &[Absent, Removed]),
            ("b", &[Removed]),
            ("c", &[Removed]),
            ("d", &[Removed]),
        ]);
        assert_eq!(script.sweep(), Ok(()));
        assert_eq!(script.asked, ["a", "b", "c", "d", "a"]);
    }

    #[test]
    fn trouble_that_passes_is_waited_out() {
        let mut troubles = vec![Trouble; 29];
        troubles.push(Removed);
        let mut script = Script::new(&[("a", &troubles)]);
        assert_eq!(script.sweep(), Ok(()));
    }

    #[test]
    fn trouble_that_stays_is_given_up() {
        for stuck in [Trouble, Leaving] {
            let mut script = Script::new(&[("a", &[stuck]), ("b", &[Removed])]);
            assert_eq!(script.sweep(), Err(LeftBehind));
            assert_eq!(script.seconds(), 30);
        }
    }

    #[test]
    fn statuses_have_meanings() {
        let meanings =
            [(204, Removed), (200, Removed), (404, Absent), (409, Leaving), (500, Trouble), (403, Trouble)];
        for (status, meaning) in meanings {
            assert_eq!(Answer::of_status(status), meaning);
        }
    }

    /// A created container is gone once it is absent, whatever else the engine does.
    #[test]
    fn a_made_container_does_not_come_again() {
        for answers in [[Removed].as_slice(), &[Absent], &[Trouble, Leaving, Absent], &[Leaving, Removed]] {
            let mut script = Script::new(&[("made", answers)]);
            let target = Target::made(Name::new("made").unwrap());
            let bounds = Bounds { removal: Removal::MayReappear, ..BOUNDS };
            assert_eq!(sweep(vec![target], &mut script, &bounds), Ok(()));
            assert_eq!(script.asked.len(), answers.len());
        }
    }

    /// F1: an engine that removes half of a container it is creating, and then creates it.
    #[test]
    fn a_reappearing_container_is_removed_again() {
        let answers = [Answer::Removed, Answer::Absent, Answer::Removed, Answer::Absent];
        let mut script = Script::new(&[("half-made", &answers)]);
        assert_eq!(script.sweep_as(Removal::MayReappear), Ok(()));
        assert_eq!(script.asked.len(), 8, "until it had stayed away for long enough");
        assert_eq!(Script::new(&[("half-made", &answers)]).sweep(), Ok(()));
    }
}
