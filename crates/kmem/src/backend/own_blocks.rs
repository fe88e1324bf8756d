//! Kmalloc blocks that a backend takes for itself: objects of their cache like any other, but not counted
//! as live bytes.

use crate::cache::cx::Cx;
use crate::ids::{CacheId, ObjPtr, Pfn};
use crate::raw::sync::Ordering::Relaxed;

/// Enters a block of a cache that the backend has taken.
pub(super) fn take(cx: &Cx<'_>, cache: CacheId, block: ObjPtr) {
    // The backend's writes to it are not writes after free.
    cx.core.tracks.clear(block);
    if cx.hooks.exact() {
        cx.enter_alloc(cache);
    }
    let bytes = cx.core.caches.get(cache).size.get();
    cx.core.own_bytes.fetch_add(u64::from(bytes), Relaxed);
}

/// Enters a block that the backend is about to give back; returns its cache.
pub(super) fn give(cx: &Cx<'_>, slab: Pfn) -> CacheId {
    let cache = CacheId(cx.core.pages.get(slab).cache.get());
    if cx.hooks.exact() {
        cx.enter_free(cache);
    }
    let bytes = cx.core.caches.get(cache).size.get();
    cx.core.own_bytes.fetch_sub(u64::from(bytes), Relaxed);
    cache
}
