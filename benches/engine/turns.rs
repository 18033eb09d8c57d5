//! Two that take turns: a disk that is slow for a while is slow for both, and who goes first changes every time.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Two things to do, and how long each took in every turn so far.
pub(crate) struct Turns<A, B> {
    first: A,
    second: B,
    taken: RefCell<Vec<(Duration, Duration)>>,
}

impl<A: Fn(), B: Fn()> Turns<A, B> {
    pub(crate) fn new(first: A, second: B) -> Self {
        Self { first, second, taken: RefCell::default() }
    }

    /// Takes so many turns; the time of the first in all of them.
    pub(crate) fn first(&self, turns: u64) -> Duration {
        (0..turns).map(|_| self.take().0).sum()
    }

    /// The time of the second in a turn that was taken, the oldest first, as many times over as is asked for: whoever asks
    /// plans by how long an answer takes, and takes what is remembered for very fast. Each turn is used once.
    pub(crate) fn second(&self, times: u32) -> Duration {
        if self.taken.borrow().is_empty() {
            self.take();
        }
        self.taken.borrow_mut().remove(0).1 * times
    }

    fn take(&self) -> (Duration, Duration) {
        let is_even = self.taken.borrow().len().is_multiple_of(2);
        let turn = if is_even {
            (time(&self.first), time(&self.second))
        } else {
            let second = time(&self.second);
            (time(&self.first), second)
        };
        self.taken.borrow_mut().push(turn);
        turn
    }
}

fn time(one: impl Fn()) -> Duration {
    let begun = Instant::now();
    one();
    begun.elapsed()
}
