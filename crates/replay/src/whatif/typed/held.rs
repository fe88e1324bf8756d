//! What each call site has alive in kmalloc's caches of the normal type, on average: what a partition by type divides.
//!
//! # How it works
//! One pass over the trace. An object adds its bytes times its life to its site, and the sum over the time of the trace is the
//! mean. Objects of other types (accounted, reclaimable, DMA) have caches of their own, which no partition touches.
//!
//! # Invariants
//! An object counts from its allocation to its free, or to the end of the trace; those older than the trace have no site.

use slablab_kmem::{Gfp, KmallocType};
use slablab_trace::{Kind, Meta, NONE, TraceReader};

use crate::change::changes::Changes;
use crate::engine::caches;
use crate::error::Error;
use crate::metrics::requests::{ClassSet, Classes};
use crate::metrics::tally::Tally;
use crate::slots::Slots;

/// What a call site has in the caches that are divided.
#[derive(Debug, Clone, Default)]
pub(crate) struct SiteHeld {
    /// Classes that it allocates from
    pub(crate) classes: ClassSet,
    /// Allocations
    pub(crate) allocs: u64,
    /// Objects alive at the end
    pub(crate) objects_end: u64,
    /// Bytes alive, as their classes have them; the mean over the time of the trace
    pub(crate) bytes_mean: u64,
    byte_ns: u128,
}

/// A live object.
#[derive(Debug, Clone, Copy)]
struct Live {
    born_ns: u64,
    /// [`NONE`] in an empty slot
    site: u32,
    bytes: u32,
}

impl Default for Live {
    fn default() -> Self {
        Self { born_ns: 0, site: NONE, bytes: 0 }
    }
}

/// Returns what each site of the trace has, and last what allocations without a site have.
pub(crate) fn held(reader: &TraceReader, classes: &Classes) -> Result<Vec<SiteHeld>, Error> {
    let meta = reader.meta();
    let types = caches::kmalloc(meta, &Changes::default()).types;
    let is_normal = |gfp: u32| {
        let kind = KmallocType::of(Gfp(gfp));
        kind == KmallocType::Normal || !types.contains(&kind)
    };
    let mut sites = vec![SiteHeld::default(); meta.sites.len() + 1];
    let mut objects: Slots<Live> = Slots::new(meta.events);
    for batch in reader.batches_without_pid() {
        for event in batch?.events() {
            if event.object == NONE {
                continue;
            }
            // An allocation into a slot that is taken ends what was there, too.
            if let Some(live) = objects.get_mut(event.object as usize) {
                let live = std::mem::take(live);
                if live.site != NONE {
                    sites[live.site as usize].end(&live, event.time_ns);
                }
            }
            let class = classes.of(event.bytes_req);
            if let (Kind::Kmalloc, Some(class)) = (event.kind, class)
                && is_normal(event.gfp)
            {
                let site = Tally::index(event.site, sites.len());
                let bytes = classes.bytes(class);
                sites[site].begin(class);
                *objects.entry(event.object as usize) =
                    Live { born_ns: event.time_ns, site: site as u32, bytes };
            }
        }
    }
    for live in objects.values().filter(|live| live.site != NONE) {
        let site = &mut sites[live.site as usize];
        site.end(live, meta.time_last_ns);
        site.objects_end += 1;
    }
    Ok(with_means(sites, meta))
}

impl SiteHeld {
    fn begin(&mut self, class: u32) {
        self.classes.add(class);
        self.allocs += 1;
    }

    fn end(&mut self, live: &Live, now_ns: u64) {
        let lived_ns = now_ns.saturating_sub(live.born_ns);
        self.byte_ns += u128::from(live.bytes) * u128::from(lived_ns);
    }
}

fn with_means(mut sites: Vec<SiteHeld>, meta: &Meta) -> Vec<SiteHeld> {
    let duration_ns = u128::from(meta.time_last_ns.saturating_sub(meta.time_first_ns)).max(1);
    for site in &mut sites {
        site.bytes_mean = u64::try_from(site.byte_ns / duration_ns).unwrap_or(u64::MAX);
    }
    sites
}
