//! What SLUB holds of a cache: CPU slabs, CPU partial lists, node lists.

use alloc::format;

use super::link;
use super::state::Slub;
use super::word::State;
use crate::backend::ops::{Held, Visit};
use crate::cache::core::Core;
use crate::cache::table::Cache;
use crate::ids::{NodeId, ObjPtr, Pfn};

pub(super) fn walk(slub: &Slub, core: &Core, cache: &Cache, visit: Visit<'_>) {
    for cpu in 0..core.setup.cpus {
        let cpu_slab = &slub.cpu_slabs[core.cell(cpu, cache.id())];
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
    for node in (0..core.setup.nodes).map(NodeId) {
        let list = slub.node(core, cache, node).list.lock();
        for slab in list.iter(&core.pages) {
            check_slab(core, cache, slab, None, visit);
        }
    }
}

/// Checks one slab; `local` is the number of free objects that its CPU holds, if a CPU froze it.
fn check_slab(core: &Core, cache: &Cache, slab: Pfn, local: Option<u64>, visit: Visit<'_>) {
    visit(Held::Slab(slab));
    let state = State::load(core.pages.get(slab));
    if state.frozen() != local.is_some() {
        visit(Held::Wrong(format!("slab {}: frozen and its list disagree", slab.0)));
    }
    let free = free_list(core, cache, slab, state.free(slab), visit);
    if u64::from(state.objects()) != u64::from(state.inuse()) + free {
        visit(Held::Wrong(format!(
            "slab {}: {} objects, {} in use, {free} on its list",
            slab.0,
            state.objects(),
            state.inuse()
        )));
    }
    if local.is_some_and(|local| local > u64::from(state.inuse())) {
        visit(Held::Wrong(format!("slab {}: its CPU holds more than is in use", slab.0)));
    }
}

/// Walks a list of free objects; returns its length.
fn free_list(
    core: &Core,
    cache: &Cache,
    slab: Pfn,
    first: Option<ObjPtr>,
    visit: Visit<'_>,
) -> u64 {
    let size = u64::from(cache.size.get());
    let most = core.pages.get(slab).order().bytes() / size;
    let base = slab.offset() + u64::from(cache.left_pad.get());
    let (mut at, mut count) = (first, 0);
    while let Some(obj) = at {
        let inside = obj.get() >= base && (obj.get() - base).is_multiple_of(size);
        if !inside || (obj.get() - base) / size >= most || count == most {
            visit(Held::Wrong(format!("free list of slab {} leads to {obj}", slab.0)));
            break;
        }
        count += 1;
        at = ObjPtr::new(link::read(core, obj.get() + u64::from(cache.free_offset.get())));
    }
    visit(Held::Free(count));
    count
}
