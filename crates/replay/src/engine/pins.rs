//! Where the live objects of a trace lie at its end: the slabs of the recorded kernel's allocator, and who keeps the sparse
//! ones.
//!
//! # How it works
//! The trace is replayed on one machine, and its objects are counted by holder at the same time. What is alive then is
//! looked up by its address, so that each slab knows its objects. Objects that are older than the trace lie as
//! [`older_objects`](crate::engine::older_objects) puts them.

use std::collections::BTreeMap;

use slablab_kmem::{Backend, BackendKind, CacheId, Machine, WithBackend};
use slablab_trace::TraceReader;

use crate::engine::machine;
use crate::engine::runner::{Occupied, Runner};
use crate::error::Error;
use crate::metrics::held::{Count, Holdings};
use crate::metrics::pins::{CacheOccupancy, Occupancy, Pin, SparseSlab};
use crate::plan::{ReplayPlan, Vectors};

/// Replays a trace under one allocator of `kind` up to `until_ns` of its clock, and returns the slabs then with the holders of
/// their objects; `progress` is told the events done so far.
///
/// # Errors
/// Fails as [`replay()`](crate::replay()) does.
pub fn pins(
    trace: &TraceReader,
    kind: BackendKind,
    until_ns: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<(Occupancy, Holdings), Error> {
    // The recorded vectors have call sites, as all objects that keep slabs.
    let (allocators, vectors) = (vec![kind], Vectors::Recorded);
    let plan = ReplayPlan { allocators, locality: false, vectors, ..ReplayPlan::default() };
    kind.dispatch(Work { trace, plan: &plan, until_ns, progress })
}

struct Work<'a> {
    trace: &'a TraceReader,
    plan: &'a ReplayPlan,
    until_ns: u64,
    progress: &'a mut dyn FnMut(u64),
}

impl WithBackend for Work<'_> {
    type Output = Result<(Occupancy, Holdings), Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let meta = self.trace.meta();
        let machine = machine::build::<B>(meta, self.plan)?;
        let mut runner = Runner::new(&machine, meta, self.plan)?;
        runner.keep_older();
        runner.warm();
        let (mut count, mut done) = (Count::new(meta, 0), 0);
        for batch in self.trace.batches() {
            let batch = batch?;
            let rows = batch.time_ns.partition_point(|time_ns| *time_ns <= self.until_ns);
            runner.first_rows(&batch, rows)?;
            batch.events().take(rows).for_each(|event| count.event(meta, &event));
            done += rows as u64;
            (self.progress)(done);
            if rows < batch.len() {
                break;
            }
        }
        let occupancy = occupancy(&machine, &runner.occupied(), &count);
        Ok((occupancy, count.finish()))
    }
}

/// Counts the slabs by cache, and names the holders of the objects in the sparse ones.
fn occupancy<B: Backend>(machine: &Machine<B>, slabs: &[Occupied], count: &Count) -> Occupancy {
    let mut by_cache: BTreeMap<CacheId, Vec<&Occupied>> = BTreeMap::new();
    for slab in slabs {
        by_cache.entry(slab.cache).or_default().push(slab);
    }
    let mut of_caches = Vec::new();
    let mut unseen_slab_bytes = 0;
    for id in machine.caches() {
        let Some(stats) = machine.cache_stats(id) else { continue };
        let slabs = by_cache.remove(&id).unwrap_or_default();
        if slabs.iter().all(|slab| slab.slots.is_empty()) {
            unseen_slab_bytes += stats.slab_bytes;
            continue;
        }
        let mut cache = CacheOccupancy {
            cache: stats.name,
            slab_bytes: stats.order.bytes(),
            objects_per_slab: u64::from(stats.objs_per_slab),
            objects: 0,
            objects_older: 0,
            slabs: stats.slabs,
            slabs_empty: stats.slabs.saturating_sub(slabs.len() as u64),
            by_fill: [0; 4],
            slabs_sparse: 0,
        };
        let mut sparse = Vec::new();
        for slab in slabs {
            let older = u64::from(slab.older);
            if cache.count(slab.slots.len() as u64 + older, older) && !slab.slots.is_empty() {
                let pin = |slot: &usize| {
                    count.at(*slot).map(|(holding, time_ns)| Pin { holding, time_ns })
                };
                let pins = slab.slots.iter().filter_map(pin).collect();
                sparse.push(SparseSlab { cache: 0, pins, older: slab.older });
            }
        }
        of_caches.push((cache, sparse));
    }
    of_caches.sort_by(|(a, _), (b, _)| a.cache.cmp(&b.cache));
    let (mut caches, mut sparse) = (Vec::new(), Vec::new());
    for (number, (cache, of_cache)) in (0..).zip(of_caches) {
        caches.push(cache);
        sparse.extend(of_cache.into_iter().map(|slab| SparseSlab { cache: number, ..slab }));
    }
    Occupancy { allocator: B::KIND.name().to_owned(), caches, unseen_slab_bytes, sparse }
}
