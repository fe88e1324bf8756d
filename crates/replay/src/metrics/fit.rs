//! How well a replay fits what the recorded kernel said of itself meanwhile. Simulated slabs are, of those that there were
//! while the kernel's were read, the closest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slablab_trace::{SampledCache, Samples};

/// Of caches and call sites of which a smaller share of the events was seen, the trace says little.
pub const SEEN_SHARE_MIN: f64 = 0.9;

/// Caches of fewer slabs say more about chance than about the model.
const SLABS_MIN: u64 = 8;

/// Recorded slabs beside simulated ones, both at the moments when the recorded kernel was asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Fit {
    /// The most bytes in slabs at a sample, simulated
    pub slab_bytes_peak: u64,
    /// The same, recorded
    pub recorded_slab_bytes_peak: u64,
    /// Bytes in slabs at the end, simulated
    pub slab_bytes_end: u64,
    /// The same, recorded
    pub recorded_slab_bytes_end: u64,
    /// By how much half of the caches differ at most, at the peak or at the end
    pub difference_share_p50: f64,
    /// By how much the worst cache differs
    pub difference_share_max: f64,
    /// Caches of more than 8 slabs, those that differ most first
    pub caches: Vec<CacheFit>,
}

/// The slabs of one cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct CacheFit {
    /// Its name in slabinfo
    pub cache: String,
    /// The most slabs at a sample, simulated
    pub slabs_peak: u64,
    /// The same, recorded
    pub recorded_slabs_peak: u64,
    /// Slabs at the end, simulated
    pub slabs_end: u64,
    /// The same, recorded
    pub recorded_slabs_end: u64,
    /// The greater of both differences, as a share of what was recorded
    pub difference_share: f64,
    /// Share of the frees of its objects that the trace saw; `None` where there was none
    pub frees_seen_share: Option<f64>,
    /// Share of the allocations of its objects that the trace saw, at most; `None` where there was none
    pub allocs_seen_share: Option<f64>,
}

impl CacheFit {
    /// Begins with what is known before the replay; `frees_seen_share` is that of the rows, where they tell.
    pub(crate) fn of_sampled(
        name: &str,
        sampled: &SampledCache,
        frees_seen_share: Option<f64>,
    ) -> Self {
        Self {
            cache: name.to_owned(),
            frees_seen_share: frees_seen_share.or_else(|| sampled.frees_seen_share()),
            allocs_seen_share: sampled.allocs_seen_share(),
            ..Self::default()
        }
    }
}

impl Fit {
    /// Compares simulated caches, each with the name that slabinfo has, with the samples; `peak` and `end` are the
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
            cache.difference_share = share(cache.slabs_peak, cache.recorded_slabs_peak)
                .max(share(cache.slabs_end, cache.recorded_slabs_end));
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
