//! `kmem_cache` handles.

use std::ffi::CString;

use slablab_kmem::{Backend, Gfp, SlabFlags};

use super::engine::Engine;
use super::handle::{Shape, cache_handle};
use crate::event::{Event, Misuse};
use crate::ledger::block;
use crate::raw::{bytes, shared};
use crate::runtime::{self, lock};

/// Creates a cache; 0 if that is impossible, with a line in the log that says why.
pub(crate) fn create<B: Backend>(
    engine: &Engine<B>,
    name: &[u8],
    size: u64,
    align: u64,
    flags: SlabFlags,
    ctor: u64,
    shape: Shape,
) -> u64 {
    let text = String::from_utf8_lossy(name).into_owned();
    let name = CString::new(name).unwrap_or_default();
    let created = match (u32::try_from(size), u32::try_from(align)) {
        (Ok(size), Ok(align)) => engine.cache_create(name, size, align, flags, ctor, shape),
        _ => Err("the size or the alignment is beyond 4 GiB".into()),
    };
    match created {
        Ok(handle) => {
            let handle = shared::leak(handle);
            if !shape.stays {
                lock(&engine.caches).push(handle);
            }
            handle
        }
        Err(error) => {
            runtime::warn(&format!("kmem_cache_create({text}) failed: {error}"));
            0
        }
    }
}

/// Destroys a cache; a finding and a line in the log if objects are live.
pub(crate) fn destroy<B: Backend>(engine: &Engine<B>, address: u64, site: u64) {
    if address == 0 {
        return;
    }
    if !forget(engine, address) {
        return runtime::report_foreign("kmem_cache_destroy", address, site);
    }
    let handle = cache_handle(address);
    if let Some((object, live)) = engine.live_of_cache(address) {
        runtime::emit(&Event::Finding {
            kind: Misuse::CacheBusy,
            detail: "the cache still has objects when it is destroyed".into(),
            count: 1,
            block: Some(block(object, &live, None)),
            site: Some(runtime::offset(site)),
        });
    }
    if let Err(error) = engine.cache_destroy(handle, site) {
        // What is left of it was told.
        let list = if engine.ledger.is_some() { &engine.busy } else { &engine.caches };
        lock(list).push(address);
        runtime::warn(&format!("kmem_cache_destroy: {error}"));
    }
}

/// Takes a cache off the list, so that one thread only destroys it; false if it is not there.
fn forget<B: Backend>(engine: &Engine<B>, address: u64) -> bool {
    let mut caches = lock(&engine.caches);
    let at = caches.iter().position(|&handle| handle == address);
    at.map(|at| caches.swap_remove(at)).is_some()
}

/// Allocates all or nothing; returns how many.
pub(crate) fn alloc_bulk<B: Backend>(
    engine: &Engine<B>,
    cache: u64,
    gfp: Gfp,
    count: u64,
    objects: u64,
    site: u64,
) -> i32 {
    let cache = cache_handle(cache);
    let mut got = Vec::new();
    while (got.len() as u64) < count {
        match engine.cache_alloc(cache, gfp, site) {
            0 => {
                got.iter().for_each(|&object| engine.cache_free(cache, object, site));
                return 0;
            }
            object => got.push(object),
        }
    }
    bytes::put_pointers(objects, &got);
    count as i32
}
