//! A quantity that goes up and down in trace time: its peak, its end, its mean over time.
//!
//! # How it works
//! The level holds from one event to the next, so the mean is the sum of level x duration over the
//! whole duration. The sum is kept in 128 bits: bytes (below 2^48) times nanoseconds (below 2^64) never overflow it,
//! and integers give the same digits on every machine.

use serde::{Deserialize, Serialize};

/// Follows one quantity.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gauge {
    level: u64,
    peak: u64,
    since_ns: u64,
    sum: u128,
}

/// The result of a gauge at the end of the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Level {
    /// The highest level
    pub peak: u64,
    /// The level after the last event
    pub end: u64,
    /// The mean over trace time, rounded down
    pub mean: u64,
}

impl Gauge {
    /// Starts at level zero at `start_ns`.
    pub(crate) fn new(start_ns: u64) -> Self {
        Self { since_ns: start_ns, ..Self::default() }
    }

    /// Sets the level from `now_ns` on. Time never goes backwards in a trace; if a row does so, it stands still.
    #[inline]
    pub(crate) fn set(&mut self, now_ns: u64, level: u64) {
        if level == self.level {
            return;
        }
        self.settle(now_ns);
        self.level = level;
        self.peak = self.peak.max(level);
    }

    /// Returns whether `level` would be a new peak.
    #[inline]
    pub(crate) fn is_new_peak(&self, level: u64) -> bool {
        level > self.peak
    }

    /// Accounts for the time since the last change.
    #[inline]
    fn settle(&mut self, now_ns: u64) {
        let span_ns = now_ns.saturating_sub(self.since_ns);
        self.sum += u128::from(self.level) * u128::from(span_ns);
        self.since_ns += span_ns;
    }

    /// Ends the gauge at `end_ns`; `start_ns` is where it was started.
    pub(crate) fn finish(mut self, start_ns: u64, end_ns: u64) -> Level {
        self.settle(end_ns);
        let span_ns = u128::from(end_ns.saturating_sub(start_ns));
        // A trace of one instant has only its level as a mean.
        let mean = self.sum.checked_div(span_ns).map_or(self.level, |mean| mean as u64);
        Level { peak: self.peak, end: self.level, mean }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_weighs_levels_by_the_time_they_held() {
        let mut gauge = Gauge::new(100);
        gauge.set(200, 10); // 100 ns at 0
        gauge.set(210, 40); // 10 ns at 10
        gauge.set(300, 2); // 90 ns at 40
        assert_eq!(
            gauge.finish(100, 400),
            Level { peak: 40, end: 2, mean: (100 + 3600 + 200) / 300 }
        );
    }

    #[test]
    fn an_instant_has_its_level_as_mean() {
        let mut gauge = Gauge::new(5);
        gauge.set(5, 7);
        assert_eq!(gauge.finish(5, 5), Level { peak: 7, end: 7, mean: 7 });
    }

    #[test]
    fn time_going_backwards_is_time_standing_still() {
        let mut gauge = Gauge::new(100);
        gauge.set(200, 1);
        gauge.set(150, 5);
        gauge.set(300, 0);
        assert_eq!(gauge.finish(100, 300).mean, 500 / 200);
    }
}
