//! What SLUB holds of a cache: CPU slabs, CPU partial lists, node lists.

use alloc::format;

use super::state::State;
use super::{Slub, link};
use crate::cache::table::Cache;
use crate::ids::{NodeId, ObjPtr, Pfn};
use crate::machine::core::Core;
use crate::machine::validate::Audit;

pub(super) fn audit(slub: &Slub, core: &Core, cache: &Cache, audit: &mut Audit) {
    for cpu in 0..core.setup.cpus {
        let slot = &slub.slots[core.cell(cpu, cache.id())];
        if slot.slab.get() != 0 {
            let slab = Pfn(slot.slab.get());
            let local = free_list(core, cache, slab, ObjPtr::new(slot.freelist.get()), audit);
            visit(core, cache, slab, Some(local), audit);
        } else if slot.freelist.get() != 0 {
            audit.error(format!("CPU {cpu} has a free list and no slab"));
        }
        let (mut at, mut count) = (slot.partial.get(), 0);
        while at != 0 {
            visit(core, cache, Pfn(at), Some(0), audit);
            count += 1;
            at = core.pages.get(Pfn(at)).next.get();
        }
        if count != slot.partial_slabs.get() {
            audit.error(format!("CPU {cpu} has {count} partial slabs, not as counted"));
        }
    }
    for node in (0..core.setup.nodes).map(NodeId) {
        let list = slub.node(core, cache, node).lock();
        for slab in list.iter(&core.pages) {
            visit(core, cache, slab, None, audit);
        }
    }
}

/// Checks one slab; `local` is the number of free objects that its CPU holds, if a CPU froze it.
fn visit(core: &Core, cache: &Cache, slab: Pfn, local: Option<u64>, audit: &mut Audit) {
    audit.slab(core, cache, slab);
    let state = State::load(core.pages.get(slab));
    if state.frozen() != local.is_some() {
        audit.error(format!("slab {}: frozen and its list disagree", slab.0));
    }
    let free = free_list(core, cache, slab, state.free(slab), audit);
    if u64::from(state.objects()) != u64::from(state.inuse()) + free {
        audit.error(format!(
            "slab {}: {} objects, {} in use, {free} on its list",
            slab.0,
            state.objects(),
            state.inuse()
        ));
    }
    if local.is_some_and(|local| local > u64::from(state.inuse())) {
        audit.error(format!("slab {}: its CPU holds more than is in use", slab.0));
    }
}

/// Walks a list of free objects; returns its length.
fn free_list(
    core: &Core,
    cache: &Cache,
    slab: Pfn,
    first: Option<ObjPtr>,
    audit: &mut Audit,
) -> u64 {
    let next = |obj: ObjPtr| link::read(core, obj.get() + u64::from(cache.free_offset.get()));
    audit.free_list(core, cache, slab, first, next)
}
