//! Contestants that take turns: a machine that is slow for a while is slow for all, and who goes first changes every time.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, SamplingMode};

/// Turns of each. More than that is not known of anybody.
const TURNS: usize = 20;

/// Those who take turns.
#[derive(Default)]
pub(crate) struct Turns<'a> {
    contestants: Vec<Contestant<'a>>,
    taken: Cell<usize>,
}

struct Contestant<'a> {
    name: &'static str,
    go: Box<dyn Fn() -> Duration + 'a>,
    /// How long it took, the oldest first.
    times: RefCell<VecDeque<Duration>>,
}

impl<'a> Turns<'a> {
    /// One more; `go` says how long it took.
    pub(crate) fn with(mut self, name: &'static str, go: impl Fn() -> Duration + 'a) -> Self {
        self.contestants.push(Contestant { name, go: Box::new(go), times: RefCell::default() });
        self
    }

    /// Measures all of them.
    pub(crate) fn bench(&self, group: &mut BenchmarkGroup<'_, WallTime>) {
        group.sampling_mode(SamplingMode::Flat).sample_size(TURNS);
        // All are measured in one go, so that nothing is left to warm up and little to plan.
        group.warm_up_time(Duration::from_nanos(1)).measurement_time(Duration::from_millis(1));
        for contestant in &self.contestants {
            // Whoever asks plans by how long an answer takes, and takes what is remembered for very fast: so it is said as
            // many times over as is asked for.
            group.bench_function(contestant.name, |b| {
                b.iter_custom(|count| self.time_of(contestant) * count as u32);
            });
        }
    }

    /// What one turn of this one took that nobody has asked for yet.
    fn time_of(&self, contestant: &Contestant<'_>) -> Duration {
        loop {
            let known = contestant.times.borrow_mut().pop_front();
            if let Some(time) = known {
                return time;
            }
            self.take();
        }
    }

    /// Everybody goes once.
    fn take(&self) {
        let first = self.taken.replace(self.taken.get() + 1) % self.contestants.len();
        let (later, sooner) = self.contestants.split_at(first);
        for contestant in sooner.iter().chain(later) {
            let time = (contestant.go)();
            contestant.times.borrow_mut().push_back(time);
        }
    }
}

/// How long it takes.
pub(crate) fn time(one: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    one();
    begun.elapsed()
}
