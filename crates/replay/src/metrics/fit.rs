//! How well a replay fits the recorded kernel's numbers. Among the simulated slabs during a reading of the kernel's, the
//! closest number counts.
//!
//! Slabs that SLUB keeps whether it needs them or not do not count as a difference of the model. A CPU's partial list grows
//! slab by slab and gives all of them back at once when it is full; up to `min_partial` empty ones go to the node's list. So
//! at the end of a storm there is any number up to these limits. Two runs of the same hackbench ended with 9 and 17 slabs of
//! `kmalloc-cg-512` on one machine, 8 and 12 of them CPUs' own. Where recording and replay tell how many these are, their
//! difference is left out.

use serde::{Deserialize, Serialize};
use slablab_trace::{SampledCache, Samples};

/// About caches and call sites with a smaller share of seen events, the trace tells little.
pub const SEEN_SHARE_MIN: f64 = 0.9;

/// Caches of fewer slabs tell more about chance than about the model.
const SLABS_MIN: u64 = 8;

/// Recorded slabs beside simulated ones, both at the moments when the recorded kernel was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Fit {
    /// The most bytes in slabs at a sample, simulated
    pub slab_bytes_peak: u64,
    /// The most bytes in slabs at a sample, recorded
    pub recorded_slab_bytes_peak: u64,
    /// Bytes in slabs at the end, simulated
    pub slab_bytes_end: u64,
    /// Bytes in slabs at the end, recorded
    pub recorded_slab_bytes_end: u64,
    /// The difference that half of the caches stay within, at the peak or at the end
    pub difference_share_p50: f64,
    /// By how much the worst cache differs
    pub difference_share_max: f64,
    /// Caches of more than 8 slabs, those that differ most first
    pub caches: Vec<CacheFit>,
}

/// The slabs of one cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CacheFit {
    /// Its name in slabinfo
    pub cache: String,
    /// The most slabs at a sample, simulated
    pub slabs_peak: u64,
    /// The most slabs at a sample, recorded
    pub recorded_slabs_peak: u64,
    /// Slabs at the end, simulated
    pub slabs_end: u64,
    /// Slabs at the end, recorded
    pub recorded_slabs_end: u64,
    /// Slabs at the end that are kept whether they are needed or not, simulated: CPUs' own, and in nodes' lists at least the
    /// empty ones. `None` where CPUs keep none
    pub kept_slabs_end: Option<u64>,
    /// The same number, recorded; `None` where it was not read
    pub recorded_kept_slabs_end: Option<u64>,
    /// The greater of both differences, as a share of the recorded number; the one at the end leaves out the difference in
    /// kept slabs
    pub difference_share: f64,
    /// Share of the frees of its objects that the trace saw; `None` where there was no free
    pub frees_seen_share: Option<f64>,
    /// Share of the allocations of its objects that the trace saw, at most; `None` where there was no
    /// allocation
    pub allocs_seen_share: Option<f64>,
    /// Share of its objects at the end that are known to live; `None` where there is no object. About the others the trace
    /// tells how many live, not which.
    pub living_known_share: Option<f64>,
}

impl CacheFit {
    /// Begins with what is known before the replay; `frees_seen_share` is that of the rows, where they tell. The recording
    /// has the share `kept_share` of all events: where some were lost, no larger share can have been seen of any cache.
    pub(crate) fn of_sampled(
        name: &str,
        sampled: &SampledCache,
        frees_seen_share: Option<f64>,
        kept_share: f64,
    ) -> Self {
        let at_most = |share: f64| share.min(kept_share);
        let frees_seen_share = frees_seen_share.or_else(|| sampled.frees_seen_share());
        Self {
            cache: name.to_owned(),
            frees_seen_share: frees_seen_share.map(at_most),
            allocs_seen_share: sampled.allocs_seen_share().map(at_most),
            living_known_share: sampled.living_known_share(),
            recorded_kept_slabs_end: sampled.kept_slabs_end.map(u64::from),
            ..Self::default()
        }
    }

    /// Returns whether there were never more slabs than at the end, here and in the recorded kernel.
    fn ends_at_peak(&self) -> bool {
        self.slabs_peak == self.slabs_end && self.recorded_slabs_peak == self.recorded_slabs_end
    }

    /// Returns the slabs at the end of a replay that kept as many as the recorded kernel, or as near to it as chance alone
    /// can explain the difference.
    fn slabs_end_alike(&self) -> u64 {
        let (recorded, simulated) = (self.recorded_slabs_end, self.slabs_end);
        let Some((ours, theirs)) = self.kept_slabs_end.zip(self.recorded_kept_slabs_end) else {
            return simulated;
        };
        // The number is not moved beyond the recorded one: kept slabs explain at most the whole
        // difference.
        match simulated > recorded {
            true => recorded.max(simulated.saturating_sub(ours.saturating_sub(theirs))),
            false => recorded.min(simulated + theirs.saturating_sub(ours)),
        }
    }
}

impl Fit {
    /// Compares simulated caches, each with its name in slabinfo, with the samples; `peak` and `end` are the
    /// simulated bytes in slabs.
    pub(crate) fn new(samples: &Samples, caches: Vec<CacheFit>, peak: u64, end: u64) -> Self {
        let last = samples.times_ns.len().saturating_sub(1);
        let mut caches = caches;
        for cache in &mut caches {
            let Some(sampled) = samples.caches.get(&cache.cache) else { continue };
            cache.recorded_slabs_peak = u64::from(sampled.slabs_max());
            cache.recorded_slabs_end = u64::from(sampled.at(last).1);
            let share = |simulated: u64, recorded: u64| {
                simulated.abs_diff(recorded) as f64 / recorded.max(1) as f64
            };
            let end = cache.slabs_end_alike();
            let peak = if cache.ends_at_peak() { end } else { cache.slabs_peak };
            cache.difference_share =
                share(peak, cache.recorded_slabs_peak).max(share(end, cache.recorded_slabs_end));
        }
        caches.retain(|cache| cache.recorded_slabs_peak.max(cache.slabs_peak) > SLABS_MIN);
        caches.sort_by(|a, b| {
            b.difference_share.total_cmp(&a.difference_share).then_with(|| a.cache.cmp(&b.cache))
        });
        let difference =
            |place: usize| caches.get(place).map_or(0.0, |cache| cache.difference_share);
        let recorded = samples.slab_bytes();
        Self {
            slab_bytes_peak: peak,
            recorded_slab_bytes_peak: recorded.iter().copied().max().unwrap_or(0),
            slab_bytes_end: end,
            recorded_slab_bytes_end: recorded.last().copied().unwrap_or(0),
            difference_share_p50: difference(caches.len() / 2),
            difference_share_max: difference(0),
            caches,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording that had lost 15 % of its events used to show 98 % of the frees of `anon_vma_chain` as
    /// seen.
    #[test]
    fn of_a_recording_that_lost_events_no_cache_was_seen_better() {
        let sampled =
            SampledCache { frees: 98, unseen_frees: 2, allocs: 100, ..Default::default() };
        let fit = CacheFit::of_sampled("c", &sampled, None, 0.85);
        assert_eq!((fit.frees_seen_share, fit.allocs_seen_share), (Some(0.85), Some(0.85)));
        let fit = CacheFit::of_sampled("c", &sampled, Some(0.5), 0.99);
        assert_eq!((fit.frees_seen_share, fit.allocs_seen_share), (Some(0.5), Some(0.99)));
        let nothing = CacheFit::of_sampled("c", &SampledCache::default(), None, 0.85);
        assert_eq!((nothing.frees_seen_share, nothing.allocs_seen_share), (None, None));
    }

    #[test]
    fn what_is_kept_more_or_less_is_no_difference() {
        let alike = |slabs_end, recorded_slabs_end, kept: Option<(u64, u64)>| {
            let (kept_slabs_end, recorded_kept_slabs_end) = kept.unzip();
            let fit = CacheFit { slabs_end, recorded_slabs_end, ..CacheFit::default() };
            CacheFit { kept_slabs_end, recorded_kept_slabs_end, ..fit }.slabs_end_alike()
        };
        // Twelve slabs, seven of them kept, beside nineteen with fourteen kept.
        assert_eq!(alike(12, 19, Some((7, 14))), 19);
        assert_eq!(alike(19, 12, Some((14, 7))), 12);
        // It explains at most the kept slabs, and nothing where the difference is the other way
        // round.
        assert_eq!((alike(12, 19, Some((7, 10))), alike(19, 12, Some((9, 7)))), (15, 17));
        assert_eq!((alike(12, 19, Some((14, 7))), alike(19, 12, Some((7, 14)))), (12, 19));
        // The difference in kept slabs is larger than that in slabs.
        assert_eq!((alike(18, 19, Some((7, 14))), alike(20, 19, Some((14, 7)))), (19, 19));
        assert_eq!((alike(12, 19, None), alike(3, 0, Some((9, 0)))), (12, 0));
    }
}
