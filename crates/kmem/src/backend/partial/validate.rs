//! Checks of one slab and of a list of free objects.

use alloc::format;

use super::link;
use super::word::State;
use crate::backend::ops::{Held, Visit};
use crate::cache::core::Core;
use crate::cache::table::CacheEntry;
use crate::ids::{ObjPtr, Pfn};

/// Checks one slab; `local` is the number of free objects that its CPU holds, if a CPU froze it.
pub(crate) fn check_slab(
    core: &Core,
    cache: &CacheEntry,
    slab: Pfn,
    local: Option<u64>,
    visit: Visit<'_>,
) {
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
pub(crate) fn free_list(
    core: &Core,
    cache: &CacheEntry,
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
        at = ObjPtr::new(link::read(core, cache, slab, obj));
    }
    visit(Held::Free(count));
    count
}
