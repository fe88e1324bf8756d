//! Random numbers that are the same on any machine.

/// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
pub(crate) struct Random(u64);

impl Random {
    /// Another seed, other numbers.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// Returns an exponential-like life with about that mean: a geometric number of halvings (the
    /// leading zeros of a random word) with a random fraction, all in integers.
    pub(crate) fn life(&mut self, mean: u32) -> u64 {
        let halvings = u64::from(self.next().leading_zeros().min(12));
        let fraction = u64::from(self.below(1024));
        (u64::from(mean) * (halvings * 1024 + fraction) * 7) / (10 * 1024)
    }
}
