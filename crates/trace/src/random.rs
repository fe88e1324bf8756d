//! Random numbers that are the same on any machine.

use slablab_stats::Rng;

/// The stream of a seed in the forms that synthetic traces and portions need.
pub(crate) struct Random(Rng);

impl Random {
    /// Starts the stream of `seed`. The constant is part of every synthetic trace: another one makes other traces.
    pub(crate) fn new(seed: u64) -> Random {
        Random(Rng::new(seed ^ 0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (((self.0.next_u64() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// Returns an exponential-like life with about that mean: a geometric number of halvings (the
    /// leading zeros of a random word) with a random fraction, all in integers.
    pub(crate) fn life(&mut self, mean: u32) -> u64 {
        let halvings = u64::from(self.0.next_u64().leading_zeros().min(12));
        let fraction = u64::from(self.below(1024));
        (u64::from(mean) * (halvings * 1024 + fraction) * 7) / (10 * 1024)
    }
}
