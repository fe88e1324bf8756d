//! What dense holds of a cache: magazines, and slabs on the lists of its nodes.

use alloc::format;

use super::magazine::Dense;
use crate::backend::ops::{Held, Visit};
use crate::backend::partial::validate::check_slab;
use crate::cache::core::Core;
use crate::cache::table::CacheEntry;

pub(super) fn walk(dense: &Dense, core: &Core, cache: &CacheEntry, visit: Visit<'_>) {
    for cpu in 0..core.setup.cpus {
        let index = core.cpu_cache_index(cpu, cache.id());
        let (magazine, objects) = (&dense.magazines[index], &dense.objects[index]);
        let (count, capacity) = (magazine.count.get(), magazine.capacity.get());
        if count > capacity || (capacity > 0 && magazine.warm.get() == 0) {
            visit(Held::Wrong(format!("CPU {cpu}'s magazine holds {count} of {capacity}")));
        }
        for place in 0..count {
            let at = objects.object(place).and_then(|obj| core.object_at(obj));
            if at.is_none_or(|(id, _, _)| id != cache.id()) {
                visit(Held::Wrong(format!("CPU {cpu}'s magazine holds what is not of its cache")));
            }
        }
        visit(Held::Free(u64::from(count)));
    }
    for node in dense.nodes.of(core, cache) {
        let list = node.list.lock();
        list.iter(&core.pages).for_each(|slab| check_slab(core, cache, slab, None, visit));
    }
}
