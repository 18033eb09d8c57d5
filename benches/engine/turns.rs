//! Contestants take turns: a slow phase of the machine affects all of them, and the order changes every round.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, SamplingMode};

/// Turns of each contestant, which is also the sample size.
const TURNS: usize = 20;

/// The contestants.
#[derive(Default)]
pub(crate) struct Turns<'a> {
    contestants: Vec<Contestant<'a>>,
    taken: Cell<usize>,
}

struct Contestant<'a> {
    name: &'static str,
    go: Box<dyn Fn() -> Duration + 'a>,
    /// The times, the oldest first.
    times: RefCell<VecDeque<Duration>>,
}

impl<'a> Turns<'a> {
    /// Adds a contestant; `go` returns its time.
    pub(crate) fn with(mut self, name: &'static str, go: impl Fn() -> Duration + 'a) -> Self {
        self.contestants.push(Contestant { name, go: Box::new(go), times: RefCell::default() });
        self
    }

    /// Measures all of them.
    pub(crate) fn bench(&self, group: &mut BenchmarkGroup<'_, WallTime>) {
        group.sampling_mode(SamplingMode::Flat).sample_size(TURNS);
        // All are measured in one round, so there is nothing to warm up and little to plan.
        group.warm_up_time(Duration::from_nanos(1)).measurement_time(Duration::from_millis(1));
        for contestant in &self.contestants {
            // Criterion plans by how long an answer takes, and takes a recorded one for very fast: so the time is
            // multiplied by the requested iterations.
            group.bench_function(contestant.name, |b| {
                b.iter_custom(|count| self.time_of(contestant) * count as u32);
            });
        }
    }

    /// The next unused time of this contestant.
    fn time_of(&self, contestant: &Contestant<'_>) -> Duration {
        loop {
            let known = contestant.times.borrow_mut().pop_front();
            if let Some(time) = known {
                return time;
            }
            self.take();
        }
    }

    /// Runs every contestant once.
    fn take(&self) {
        let first = self.taken.replace(self.taken.get() + 1) % self.contestants.len();
        let (later, sooner) = self.contestants.split_at(first);
        for contestant in sooner.iter().chain(later) {
            let time = (contestant.go)();
            contestant.times.borrow_mut().push_back(time);
        }
    }
}

/// Measures one call.
pub(crate) fn time(one: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    one();
    begun.elapsed()
}
