//! A guest that records its boot and a load, beside the replay of its recording.
//!
//! # How it works
//! The guest records by tracefs alone ([`Recorder`]). Facts that its events do not tell are taken from the numbers of
//! objects in its slabinfo, never of slabs: objects that are older than the trace buffer, and objects that were freed
//! without an event (in bulk, or by kfree_rcu). For SLOB and SLMB, which have no slabs for each cache, the growth of all
//! memory in slabs is shown.
//!
//! Where many objects of a cache are freed whose allocation made no event (Linux 6.1 reports no allocation in bulk), their
//! number at any time is not known. Such a cache is noted, and not compared.

use std::collections::BTreeMap;
use std::path::Path;

use slablab_replay::{Allocator, BytesAt, CachePair, Fidelity, ReplayPlan, replay};
use slablab_trace::{Meta, SlabSnapshot, TraceReader};
use slablab_vm::KernelBuilder;

use super::result::{Guest, Limits, PairResult};
use crate::error::{Error, Result};
use crate::guest::Recorder;

/// Caches with more slabs than this in the guest are compared one by one.
const JUDGED_SLABS: u64 = 4;
/// The number of a cache's slabs may differ by one, or by this share of them.
const SLABS_OFF_SHARE: f64 = 0.10;
/// Limits for the bytes of all caches, and for the share of caches whose slabs differ by at most
/// that.
const LIMITS: Limits =
    Limits { off_shares_max: (0.05, 0.05), caches_shares_min: (0.0, 0.85), path_share_max: 1.0 };
/// Among the objects of a cache whose allocation or free was seen, this share may be allocated without an
/// event.
const UNSEEN_SHARE_MAX: f64 = 0.10;

/// Messages between tasks, and some tasks that stay when the slabs are counted.
const LOAD: &str = "hackbench -g 2 -l 50 -s 100 > /tmp/hackbench\n\
    i=0\n\
    while [ $i -lt 50 ]; do sleep 1000 & i=$((i + 1)); done\n";

/// Boots `guest`, which records itself, and replays what it recorded.
pub(super) fn recorded_and_replayed(
    builder: &KernelBuilder,
    guest: &Guest,
    cpus: u32,
    folder: &Path,
) -> Result<PairResult> {
    let by_cache = guest.kind.has_kmalloc_caches();
    let recorder = Recorder {
        builder,
        kernel: guest.kernel.clone(),
        cpus,
        arguments: vec!["slab_nomerge".to_owned()],
        load: LOAD.to_owned(),
        tools: Vec::new(),
        memory_mib: 1024,
        accel: guest.accel,
    };
    let recording = match by_cache {
        true => recorder.since_boot(folder)?,
        false => {
            let exe = std::env::current_exe();
            let exe = exe.map_err(Error::io(Path::new("/proc/self/exe"), "find slablab"))?;
            recorder.of_load(&exe, folder)?
        }
    };
    let reader = TraceReader::open(&recording.parquet()?)?;
    let plan = ReplayPlan { allocators: vec![guest.kind], ..ReplayPlan::default() };
    let replay = replay(&reader, &plan, &mut |_| ())?;
    let replayed = &replay.allocators[0];
    let (caches, notes) = match by_cache {
        true => caches(&recording.slabinfo, replayed, reader.meta()),
        false => (Vec::new(), vec![Cache::GROWTH.to_owned()]),
    };
    let (kernel_bytes, model_bytes) = match by_cache {
        true => (bytes(&caches, |pair| pair.kernel_bytes), bytes(&caches, |pair| pair.model_bytes)),
        false => {
            let growth = recording.slab_kb.saturating_sub(recording.slab_kb_before);
            (growth << 10, replayed.slab_bytes.end)
        }
    };
    let end = BytesAt { event: reader.meta().events, time_ns: 0, kernel_bytes, model_bytes };
    Ok(PairResult {
        model: guest.kind.name().to_owned(),
        release: guest.kernel.release().to_owned(),
        events: reader.meta().events,
        replay_ns: 0,
        left_kb: 0,
        // In an allocator without slabs for each cache, not all growth is the trace's.
        limits: by_cache.then_some(LIMITS),
        caches_shares: shares(&caches),
        notes,
        pair: Fidelity { moments: vec![end], caches, paths: Vec::new() },
    })
}

/// Returns the share of caches that have equally many slabs, and the share of those with many slabs that have
/// about as many.
fn shares(caches: &[CachePair]) -> (f64, f64) {
    let share = |of: usize, all: usize| if all == 0 { 1.0 } else { of as f64 / all as f64 };
    let judged = || caches.iter().filter(|pair| pair.kernel_slabs > JUDGED_SLABS);
    let is_within = |pair: &&CachePair| {
        pair.off_slabs() <= 1
            || pair.off_slabs() as f64 <= pair.kernel_slabs as f64 * SLABS_OFF_SHARE
    };
    let equal = caches.iter().filter(|pair| pair.off_slabs() == 0).count();
    (share(equal, caches.len()), share(judged().filter(is_within).count(), judged().count()))
}

fn bytes(caches: &[CachePair], of: fn(&CachePair) -> u64) -> u64 {
    caches.iter().map(of).sum()
}

/// A cache in the guest and in replay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Cache {
    guest: (u64, u64),
    replay: (u64, u64),
    /// Too many of its objects were allocated without an event
    is_unknown: bool,
}

impl Cache {
    const GROWTH: &'static str = "The allocator has no slabs for each cache: the growth of all memory in slabs \
         is shown, and much of it is not the trace's.";

    fn pair(&self, cache: &str) -> CachePair {
        let off = self.guest.0.abs_diff(self.replay.0);
        CachePair {
            cache: cache.to_owned(),
            kernel_slabs: self.guest.0,
            model_slabs: self.replay.0,
            kernel_bytes: self.guest.1,
            model_bytes: self.replay.1,
            off_slabs_max: off,
        }
    }
}

/// Puts guest and replay side by side, the largest difference first, and notes which caches are left
/// out.
fn caches(slabinfo: &str, replayed: &Allocator, meta: &Meta) -> (Vec<CachePair>, Vec<String>) {
    let page_bytes = u64::from(meta.page_bytes.max(4096));
    let mut caches: BTreeMap<&str, Cache> = BTreeMap::new();
    let mut snapshot = SlabSnapshot::default();
    slabinfo.clone_into(&mut snapshot.slabinfo);
    for line in snapshot.slabinfo() {
        let guest = (line.num_slabs, line.num_slabs * line.pagesperslab * page_bytes);
        caches.entry(line.name).or_default().guest = guest;
    }
    for cache in &replayed.caches {
        caches.entry(&cache.cache).or_default().replay = (cache.slabs_end, cache.held_bytes_end);
    }
    for cache in &meta.caches {
        if let Some(row) = caches.get_mut(cache.recorded_name()) {
            let objects = cache.allocs + cache.older_frees;
            row.is_unknown = cache.older_frees as f64 > objects as f64 * UNSEEN_SHARE_MAX;
        }
    }
    caches.retain(|_, cache| cache.guest.0 + cache.replay.0 > 0);
    let (unknown, known): (Vec<_>, Vec<_>) =
        caches.into_iter().partition(|(_, cache)| cache.is_unknown);
    let note = |(name, cache): (&str, Cache)| {
        format!(
            "{name} is compared with nothing ({} slabs in the guest, {} in replay): many of its objects were allocated \
             without an event, in bulk.",
            cache.guest.0, cache.replay.0
        )
    };
    let mut pairs: Vec<_> = known.iter().map(|(name, cache)| cache.pair(name)).collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.off_slabs()));
    (pairs, unknown.into_iter().map(note).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(slabs: &[(u64, u64)]) -> f64 {
        let pair = |(guest, replay): &(u64, u64)| {
            Cache { guest: (*guest, 0), replay: (*replay, 0), is_unknown: false }.pair("c")
        };
        shares(&slabs.iter().map(pair).collect::<Vec<_>>()).1
    }

    #[test]
    fn a_cache_of_many_slabs_may_be_off_by_a_slab_or_a_tenth() {
        assert_eq!(within(&[(5, 6), (5, 4), (100, 110), (100, 90)]), 1.0);
        assert_eq!(within(&[(5, 7), (100, 111)]), 0.0);
        assert_eq!(within(&[(1000, 1000), (4, 40)]), 1.0, "caches of few slabs are not judged");
    }
}
