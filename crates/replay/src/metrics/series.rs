//! Memory over time: at most 512 samples, evenly spaced in trace time, the highest of each span kept.
//!
//! A plot that showed the level at sample times would lose the peaks between them, and a machine must
//! have the peak.

use serde::{Deserialize, Serialize};

/// More samples than a plot of 1,000 pixels can show, fewer than make a page large.
const SAMPLES: u64 = 512;

/// The bytes at the moment of a span when most were held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Sample {
    /// Since the first event
    pub time_ns: u64,
    /// Requested
    pub requested_bytes: u64,
    /// Allocated
    pub allocated_bytes: u64,
    /// Held in pages
    pub held_bytes: u64,
}

/// Collects the samples.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    start_ns: u64,
    span_ns: u64,
    next_ns: u64,
    highest: Sample,
    samples: Vec<Sample>,
}

impl Series {
    /// Starts a series from `start_ns` to `end_ns`.
    pub(crate) fn new(start_ns: u64, end_ns: u64) -> Self {
        let span_ns = end_ns.saturating_sub(start_ns).div_ceil(SAMPLES).max(1);
        Self { start_ns, span_ns, next_ns: start_ns.saturating_add(span_ns), ..Self::default() }
    }

    /// Notes what is held now.
    #[inline]
    pub(crate) fn note(&mut self, now_ns: u64, requested: u64, allocated: u64, held: u64) {
        if now_ns >= self.next_ns {
            self.close(now_ns);
        }
        if held >= self.highest.held_bytes {
            self.highest = Sample {
                time_ns: now_ns.saturating_sub(self.start_ns),
                requested_bytes: requested,
                allocated_bytes: allocated,
                held_bytes: held,
            };
        }
    }

    #[cold]
    fn close(&mut self, now_ns: u64) {
        if self.samples.len() as u64 >= SAMPLES {
            // The trace lasts longer than it states: the rest is one span.
            self.next_ns = u64::MAX;
            return;
        }
        self.samples.push(self.highest);
        // The level of the span's end holds until the next event: an idle span repeats no sample.
        self.highest.held_bytes = 0;
        let spans = (now_ns - self.next_ns) / self.span_ns + 1;
        self.next_ns = self.next_ns.saturating_add(spans.saturating_mul(self.span_ns));
    }

    /// Ends the series.
    pub(crate) fn finish(mut self) -> Vec<Sample> {
        if self.highest.held_bytes > 0 || self.samples.is_empty() {
            self.samples.push(self.highest);
        }
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_a_span_is_kept_with_its_time() {
        let mut series = Series::new(0, 5120);
        series.note(1, 1, 1, 10);
        series.note(5, 2, 2, 50);
        series.note(9, 1, 1, 20);
        series.note(25, 3, 3, 30);
        let samples = series.finish();
        let seen: Vec<_> = samples.iter().map(|s| (s.time_ns, s.held_bytes)).collect();
        assert_eq!(seen, [(5, 50), (25, 30)]);
    }

    #[test]
    fn a_trace_that_lasts_longer_than_it_says_has_no_more_samples() {
        let mut series = Series::new(0, 512);
        for now_ns in 0..5_000 {
            series.note(now_ns, 0, 0, now_ns);
        }
        let samples = series.finish();
        assert!(samples.len() <= 513, "{}", samples.len());
        assert_eq!(samples.last().unwrap().held_bytes, 4_999);
    }

    #[test]
    fn there_are_never_more_samples_than_a_plot_can_show() {
        let mut series = Series::new(0, 1_000_003);
        for now_ns in 0..1_000_004 {
            series.note(now_ns, 0, 0, now_ns);
        }
        let samples = series.finish();
        assert!((500..=513).contains(&samples.len()), "{}", samples.len());
        assert_eq!(samples.last().unwrap().held_bytes, 1_000_003);
    }
}
