//! What SLUB holds of a cache: CPU slabs, CPU partial lists, node lists.

use alloc::format;

use super::state::Slub;
use crate::backend::ops::{Held, Visit};
use crate::backend::partial::validate::{check_slab, free_list};
use crate::cache::core::Core;
use crate::cache::table::CacheEntry;
use crate::ids::{ObjPtr, Pfn};

pub(super) fn walk(slub: &Slub, core: &Core, cache: &CacheEntry, visit: Visit<'_>) {
    for cpu in 0..core.setup.cpus {
        let cpu_slab = &slub.cpu_slabs[core.cpu_cache_index(cpu, cache.id())];
        if cpu_slab.slab.get() != 0 {
            let slab = Pfn(cpu_slab.slab.get());
            let local = free_list(core, cache, slab, ObjPtr::new(cpu_slab.freelist.get()), visit);
            check_slab(core, cache, slab, Some(local), visit);
        } else if cpu_slab.freelist.get() != 0 {
            visit(Held::Wrong(format!("CPU {cpu} has a free list and no slab")));
        }
        let (mut at, mut count) = (cpu_slab.partial.get(), 0);
        while at != 0 {
            check_slab(core, cache, Pfn(at), Some(0), visit);
            count += 1;
            at = core.pages.get(Pfn(at)).next.get();
        }
        if count != cpu_slab.partial_slabs.get() {
            visit(Held::Wrong(format!("CPU {cpu} has {count} partial slabs, not as counted")));
        }
    }
    for node in slub.nodes.of(core, cache) {
        let list = node.list.lock();
        for slab in list.iter(&core.pages) {
            check_slab(core, cache, slab, None, visit);
        }
    }
}
