//! Names the caches of allocations whose events do not (kernels before 6.8).
//!
//! How it works: rows wait in order from the first nameless allocation on. The free of the same
//! object names its cache, and the row goes on when nothing before it waits. What is left at the end
//! gets the cache that most allocations of the same site and size turned out to be from, else the
//! only cache of that object size in the kernel's slabinfo.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::meta::SlabSnapshot;
use crate::{Event, Kind, NONE, TraceWriter};

/// Rows that wait for the name of a cache.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    rows: VecDeque<Event>,
    /// Number of the first of `rows` since the beginning of the trace.
    first: u64,
    votes: FxHashMap<Origin, FxHashMap<u32, u64>>,
    /// Set when the end has come and nothing needs to wait any more.
    ended: bool,
    /// Allocations whose cache was inferred.
    pub(super) inferred: u64,
    /// Allocations whose cache could not be.
    pub(super) unknown: u64,
}

/// Allocations alike in this are taken to be from the same cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Origin {
    site: u32,
    bytes_req: u64,
    bytes_alloc: u64,
}

fn nameless(event: &Event) -> bool {
    event.kind == Kind::KmemCacheAlloc && event.cache == NONE
}

fn origin(event: &Event) -> Origin {
    Origin { site: event.site, bytes_req: event.bytes_req, bytes_alloc: event.bytes_alloc }
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of the row that is made next.
    pub(super) fn next_row(&self) -> u64 {
        self.first + self.rows.len() as u64
    }

    /// Counts a row that need not wait.
    pub(super) fn pass(&mut self) {
        debug_assert!(self.rows.is_empty(), "a row overtakes those that wait");
        self.first += 1;
    }

    /// Adds a row that waits.
    pub(super) fn push(&mut self, event: Event) {
        self.rows.push_back(event);
    }

    /// Names the cache of the allocation in row `row`; returns whether it had none.
    pub(super) fn name(&mut self, row: u64, cache: u32) -> bool {
        let index = row.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        let event = index.and_then(|index| self.rows.get_mut(index)).filter(|e| nameless(e));
        let Some(event) = event else { return false };
        event.cache = cache;
        *self.votes.entry(origin(event)).or_default().entry(cache).or_default() += 1;
        self.inferred += 1;
        true
    }

    /// Returns the next row that waits no longer.
    pub(super) fn pop(&mut self) -> Option<Event> {
        self.rows.front().filter(|event| self.ended || !nameless(event))?;
        self.first += 1;
        self.rows.pop_front()
    }

    /// Names the caches of all rows that still wait, as well as can be.
    pub(super) fn infer(&mut self, slabs: Option<&SlabSnapshot>, writer: &mut TraceWriter) {
        let of_size = slabs.map(unique_sizes).unwrap_or_default();
        for event in self.rows.iter_mut().filter(|event| nameless(event)) {
            let votes = self.votes.get(&origin(event)).into_iter().flatten();
            // The least id among equals, as the map's order means nothing.
            let most = votes.max_by_key(|&(&cache, &votes)| (votes, std::cmp::Reverse(cache)));
            event.cache = match (most, of_size.get(&event.bytes_alloc)) {
                (Some((&cache, _)), _) => cache,
                (None, Some(Some(name))) => writer.cache(name),
                _ => {
                    self.unknown += 1;
                    continue;
                }
            };
            self.inferred += 1;
            let cache = &mut writer.caches_mut()[event.cache as usize];
            cache.allocs += 1;
            cache.inferred += 1;
        }
        self.ended = true;
    }
}

/// Returns the caches by object size; `None` where several have the same. kmalloc's own caches are
/// left out, as kmem_cache_alloc never takes from them.
fn unique_sizes(slabs: &SlabSnapshot) -> FxHashMap<u64, Option<&str>> {
    let mut sizes = FxHashMap::default();
    let kmalloc = |name: &str| name.starts_with("kmalloc-") || name.starts_with("dma-kmalloc-");
    for cache in slabs.slabinfo().filter(|cache| !kmalloc(cache.name)) {
        sizes.entry(cache.objsize).and_modify(|name| *name = None).or_insert(Some(cache.name));
    }
    sizes
}
