//! What SLAB holds of a cache: per-CPU arrays, shared arrays, slabs on three lists.

use alloc::format;

use super::layout::Mode;
use super::node;
use super::state::Slab;
use crate::backend::ops::{Held, Visit};
use crate::cache::core::Core;
use crate::cache::table::CacheEntry;
use crate::ids::{NodeId, ObjPtr, Pfn};

pub(super) fn walk(slab: &Slab, core: &Core, cache: &CacheEntry, visit: Visit<'_>) {
    for cpu in 0..core.setup.cpus {
        let index = core.cpu_cache_index(cpu, cache.id());
        let avail = slab.arrays[index].avail.get();
        if avail > slab.arrays[index].limit.get() {
            visit(Held::Wrong(format!("CPU {cpu}'s array holds {avail}, more than its limit")));
        }
        for i in 0..avail {
            check_entry(core, cache, slab.entry(index, i).get(), visit);
        }
        visit(Held::Free(u64::from(avail)));
    }
    for home in (0..core.setup.nodes).map(NodeId) {
        let node = slab.node(core, cache, home).lock();
        let (mut lists, counts) = (*node, node.counts);
        drop(node);
        let (counted, shared_avail) = (counts.free_objects.get(), counts.shared_avail.get());
        for i in 0..shared_avail {
            check_entry(core, cache, slab.shared(core, cache, home)[i as usize].get(), visit);
        }
        visit(Held::Free(u64::from(shared_avail)));
        let mut free = 0;
        for kind in [0, 1, cache.objects.get()] {
            // A slab of one object is never partial.
            if kind == 1 && cache.objects.get() == 1 {
                continue;
            }
            let list = *lists.list(kind, cache.objects.get());
            for pfn in list.iter(&core.pages) {
                visit(Held::Slab(pfn));
                free += check_slab(slab, core, cache, pfn, kind, visit);
            }
        }
        if free != counted {
            visit(Held::Wrong(format!("node {}: {free} free objects, {counted} counted", home.0)));
        }
        visit(Held::Free(u64::from(free)));
    }
}

fn check_entry(core: &Core, cache: &CacheEntry, entry: u64, visit: Visit<'_>) {
    let at = ObjPtr::new(entry).and_then(|obj| core.object_at(obj));
    if at.is_none_or(|(id, _, _)| id != cache.id()) {
        visit(Held::Wrong(format!("an array holds 0x{entry:x}, which is not of its cache")));
    }
}

/// Returns the free objects of a slab on the list of slabs like `kind`.
fn check_slab(
    slab: &Slab,
    core: &Core,
    cache: &CacheEntry,
    pfn: Pfn,
    kind: u32,
    visit: Visit<'_>,
) -> u32 {
    let page = core.pages.get(pfn);
    let (active, objects) = (node::active(page), cache.objects.get());
    let right = match kind {
        0 => active == 0,
        1 => active > 0 && active < objects,
        _ => active == objects,
    };
    if !right {
        visit(Held::Wrong(format!(
            "slab {}: {active} of {objects} active, on the wrong list",
            pfn.0
        )));
    }
    if slab.colours(cache).mode() == Mode::OnSlab {
        visit(Held::Metadata(u64::from(objects)));
    }
    let list = node::list_of(page);
    for i in active..objects {
        if node::listed(core, pfn, list, i) >= objects {
            visit(Held::Wrong(format!("slab {}: its list of free objects is damaged", pfn.0)));
        }
    }
    objects - active
}
