//! How many objects of a cache the events leave alive while its numbers in slabinfo are read.
//!
//! # How it works
//! The numbers are those of some moment of the part of a reading in which they were read. On a busy machine
//! such a part takes up to half a second, in which ten thousand objects come and go. So the fewest that lived meanwhile are
//! noted. If the kernel had fewer in use, the difference was freed unseen, at whichever moment it counted.
//!
//! # Invariants
//! Memory grows with the samples at which there were fewer or more objects than before.

/// The moments between which a sample's numbers were read; behind the last sample there are none.
pub(super) type Reading = Option<(u64, u64)>;

/// The objects of one cache that came and did not go, those older than the recording not counted.
#[derive(Debug, Default)]
pub(super) struct Living {
    live: i64,
    /// The place of the current reading among the samples.
    sample: u32,
    reading: Reading,
    /// The fewest since the current reading began.
    fewest: Option<i64>,
    /// Samples at which the fewest changed, and their number.
    at: Vec<(u32, i64)>,
}

impl Living {
    /// `first` is the reading of the first sample.
    pub(super) fn new(first: Reading) -> Living {
        Living { reading: first, ..Living::default() }
    }

    /// Counts objects that come, or go where `by` is negative. `reading` tells the reading of a sample.
    pub(super) fn change(&mut self, time_ns: u64, by: i64, reading: impl Fn(u32) -> Reading) {
        while self.reading.is_some_and(|(_, to_ns)| to_ns < time_ns) {
            self.end_reading(&reading);
        }
        let before = self.live;
        self.live += by;
        if self.reading.is_some_and(|(from_ns, _)| from_ns <= time_ns) {
            self.fewest = Some(self.fewest.unwrap_or(before).min(self.live));
        }
    }

    /// Returns the samples at which the fewest changed, and their number.
    pub(super) fn finish(mut self, reading: impl Fn(u32) -> Reading) -> Vec<(u32, i64)> {
        while self.reading.is_some() {
            self.end_reading(&reading);
        }
        self.at
    }

    fn end_reading(&mut self, reading: impl Fn(u32) -> Reading) {
        let fewest = self.fewest.take().unwrap_or(self.live);
        if self.at.last().is_none_or(|(_, last)| *last != fewest) {
            self.at.push((self.sample, fewest));
        }
        self.sample += 1;
        self.reading = reading(self.sample);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fewest(readings: &[(u64, u64)], changes: &[(u64, i64)]) -> Vec<(u32, i64)> {
        let reading = |sample: u32| readings.get(sample as usize).copied();
        let mut living = Living::new(reading(0));
        changes.iter().for_each(|(time_ns, by)| living.change(*time_ns, *by, reading));
        living.finish(reading)
    }

    #[test]
    fn the_fewest_that_lived_while_numbers_were_read_count() {
        let readings = [(0, 0), (10, 20), (30, 40), (50, 60), (70, 80)];
        // Five come before the second reading; in it two go and four come, after it one goes; in the fourth all go.
        let changes = [(5, 5), (12, -2), (15, 4), (25, -1), (55, -6)];
        assert_eq!(fewest(&readings, &changes), [(0, 0), (1, 3), (2, 6), (3, 0)]);
    }

    #[test]
    fn what_lived_before_a_reading_and_after_it_counts_too() {
        let changes = [(5, 1), (15, 7), (25, 9)];
        assert_eq!(fewest(&[(0, 0), (10, 20)], &changes), [(0, 0), (1, 1)]);
        assert_eq!(fewest(&[(0, 0), (10, 20), (30, 40)], &changes), [(0, 0), (1, 1), (2, 17)]);
        // Without readings, and without events.
        assert!(fewest(&[], &[(5, 1)]).is_empty());
        assert_eq!(fewest(&[(0, 0), (10, 20)], &[]), [(0, 0)]);
    }
}
