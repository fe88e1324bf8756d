//! `slab.h`, `gfp.h`, `vmalloc.h`: what a module allocates with.
//!
//! `site` is the call's return address, which the jump into the host puts behind the last argument.

use slablab_kmem::{Backend, Gfp, PAGE_SIZE, SlabFlags};

use crate::machine::caches;
use crate::machine::engine::{CacheHandle, Engine, ZERO_SIZE_PTR, cache_handle};
use crate::raw::{bytes, shared};
use crate::runtime::report_foreign;

fn engine<B: Backend>() -> &'static Engine<B> {
    shared::installed()
}

pub(crate) extern "C" fn kmalloc<B: Backend>(size: u64, gfp: u32, site: u64) -> u64 {
    engine::<B>().kmalloc(size, Gfp(gfp), site)
}

pub(crate) extern "C" fn kmalloc_node<B: Backend>(
    size: u64,
    gfp: u32,
    _nid: i32,
    site: u64,
) -> u64 {
    engine::<B>().kmalloc(size, Gfp(gfp), site)
}

pub(crate) extern "C" fn kzalloc<B: Backend>(size: u64, gfp: u32, site: u64) -> u64 {
    engine::<B>().kmalloc(size, Gfp(gfp) | Gfp::ZERO, site)
}

pub(crate) extern "C" fn kfree<B: Backend>(address: u64, site: u64) {
    engine::<B>().kfree(address, site);
}

pub(crate) extern "C" fn ksize<B: Backend>(address: u64) -> u64 {
    engine::<B>().ksize(address)
}

pub(crate) extern "C" fn kmalloc_size_roundup(size: u64) -> u64 {
    let classes = slablab_kmem::KmallocConfig::LINUX;
    let class = classes.iter().map(|&c| u64::from(c)).find(|&c| c >= size);
    // What is too large for any block stays as it is: the allocation then fails.
    class.unwrap_or_else(|| size.checked_next_power_of_two().unwrap_or(size))
}

pub(crate) extern "C" fn kfree_sensitive<B: Backend>(address: u64, site: u64) {
    if address > ZERO_SIZE_PTR {
        bytes::block_fill(address, engine::<B>().ksize(address), 0);
    }
    engine::<B>().kfree(address, site);
}

pub(crate) extern "C" fn krealloc<B: Backend>(old: u64, size: u64, gfp: u32, site: u64) -> u64 {
    let engine = engine::<B>();
    if size == 0 {
        engine.kfree(old, site);
        return ZERO_SIZE_PTR;
    }
    let have = engine.ksize(old);
    if have >= size {
        return old;
    }
    let new = engine.kmalloc(size, Gfp(gfp), site);
    if new != 0 && old > ZERO_SIZE_PTR {
        bytes::block_copy(old, new, have);
        engine.kfree(old, site);
    }
    new
}

pub(crate) extern "C" fn kapi_cache_create<B: Backend>(
    name: u64,
    size: u64,
    align: u64,
    flags: u32,
    ctor: u64,
) -> u64 {
    let name = bytes::string(name, 128).unwrap_or_default();
    caches::create(engine::<B>(), &name, size, align, slab_flags(flags), ctor)
}

/// Turns the kernel's `SLAB_*` values into the engine's.
fn slab_flags(bits: u32) -> SlabFlags {
    const MAP: [(u32, SlabFlags); 10] = [
        (0x100, SlabFlags::CONSISTENCY_CHECKS),
        (0x400, SlabFlags::RED_ZONE),
        (0x800, SlabFlags::POISON),
        (0x2000, SlabFlags::HWCACHE_ALIGN),
        (0x4000, SlabFlags::CACHE_DMA),
        (0x8000, SlabFlags::CACHE_DMA32),
        (0x1_0000, SlabFlags::STORE_USER),
        (0x2_0000, SlabFlags::RECLAIM_ACCOUNT),
        (0x8_0000, SlabFlags::TYPESAFE_BY_RCU),
        (0x100_0000, SlabFlags::NO_MERGE),
    ];
    let set = MAP.iter().filter(|(bit, _)| bits & bit != 0);
    set.fold(SlabFlags::NONE, |flags, &(_, flag)| flags | flag)
}

pub(crate) extern "C" fn kmem_cache_destroy<B: Backend>(cache: u64, site: u64) {
    caches::destroy(engine::<B>(), cache, site);
}

pub(crate) extern "C" fn kmem_cache_shrink<B: Backend>(cache: u64) -> i32 {
    engine::<B>().cache_shrink(cache_handle(cache));
    0
}

pub(crate) extern "C" fn kmem_cache_alloc<B: Backend>(cache: u64, gfp: u32, site: u64) -> u64 {
    engine::<B>().cache_alloc(cache_handle(cache), Gfp(gfp), site)
}

pub(crate) extern "C" fn kmem_cache_alloc_node<B: Backend>(
    cache: u64,
    gfp: u32,
    _node: i32,
    site: u64,
) -> u64 {
    engine::<B>().cache_alloc(cache_handle(cache), Gfp(gfp), site)
}

pub(crate) extern "C" fn kmem_cache_zalloc<B: Backend>(cache: u64, gfp: u32, site: u64) -> u64 {
    let cache: &CacheHandle = cache_handle(cache);
    let object = engine::<B>().cache_alloc(cache, Gfp(gfp), site);
    if object != 0 {
        bytes::block_fill(object, u64::from(cache.object_bytes), 0);
    }
    object
}

pub(crate) extern "C" fn kmem_cache_free<B: Backend>(cache: u64, object: u64, site: u64) {
    if object != 0 {
        engine::<B>().cache_free(cache_handle(cache), object, site);
    }
}

pub(crate) extern "C" fn kmem_cache_alloc_bulk<B: Backend>(
    cache: u64,
    gfp: u32,
    count: u64,
    objects: u64,
    site: u64,
) -> i32 {
    caches::alloc_bulk(engine::<B>(), cache, Gfp(gfp), count, objects, site)
}

pub(crate) extern "C" fn kmem_cache_free_bulk<B: Backend>(
    cache: u64,
    count: u64,
    objects: u64,
    site: u64,
) {
    for object in bytes::pointers(objects, count) {
        engine::<B>().cache_free(cache_handle(cache), object, site);
    }
}

pub(crate) extern "C" fn kfree_bulk<B: Backend>(count: u64, objects: u64, site: u64) {
    for object in bytes::pointers(objects, count) {
        engine::<B>().kfree(object, site);
    }
}

pub(crate) extern "C" fn kmem_cache_size(cache: u64) -> u32 {
    cache_handle(cache).object_bytes
}

pub(crate) extern "C" fn kmem_cache_name(cache: u64) -> u64 {
    cache_handle(cache).name.as_ptr() as u64
}

pub(crate) extern "C" fn __get_free_pages<B: Backend>(gfp: u32, order: u32, site: u64) -> u64 {
    let engine = engine::<B>();
    engine.alloc_pages(Gfp(gfp), order, site).map_or(0, |pfn| engine.page_address(pfn))
}

pub(crate) extern "C" fn get_zeroed_page<B: Backend>(gfp: u32, site: u64) -> u64 {
    let engine = engine::<B>();
    let pfn = engine.alloc_pages(Gfp(gfp) | Gfp::ZERO, 0, site);
    pfn.map_or(0, |pfn| engine.page_address(pfn))
}

pub(crate) extern "C" fn free_pages<B: Backend>(address: u64, order: u32, site: u64) {
    let engine = engine::<B>();
    match engine.page_of(address) {
        _ if address == 0 => {}
        Some(pfn) => engine.free_pages(pfn, order, site),
        None => report_foreign("free_pages", address, site),
    }
}

pub(crate) extern "C" fn alloc_pages<B: Backend>(gfp: u32, order: u32, site: u64) -> u64 {
    let engine = engine::<B>();
    engine.alloc_pages(Gfp(gfp), order, site).map_or(0, |pfn| engine.pages.address(pfn))
}

pub(crate) extern "C" fn alloc_pages_node<B: Backend>(
    _nid: i32,
    gfp: u32,
    order: u32,
    site: u64,
) -> u64 {
    let engine = engine::<B>();
    engine.alloc_pages(Gfp(gfp), order, site).map_or(0, |pfn| engine.pages.address(pfn))
}

pub(crate) extern "C" fn __free_pages<B: Backend>(page: u64, order: u32, site: u64) {
    let engine = engine::<B>();
    match engine.pages.pfn(page) {
        _ if page == 0 => {}
        Some(pfn) => engine.free_pages(pfn, order, site),
        None => report_foreign("__free_pages", page, site),
    }
}

pub(crate) extern "C" fn split_page<B: Backend>(page: u64, order: u32, site: u64) {
    let engine = engine::<B>();
    match engine.pages.pfn(page) {
        Some(pfn) => engine.split_page(pfn, order, site),
        None => report_foreign("split_page", page, site),
    }
}

pub(crate) extern "C" fn put_page<B: Backend>(page: u64, site: u64) {
    if let Some(pfn) = engine::<B>().pages.pfn(page) {
        let order = engine::<B>().pages.order(pfn);
        engine::<B>().free_pages(pfn, order, site);
    }
}

pub(crate) extern "C" fn vmalloc<B: Backend>(size: u64, site: u64) -> u64 {
    engine::<B>().vmalloc(size, Gfp::KERNEL, site)
}

pub(crate) extern "C" fn vzalloc<B: Backend>(size: u64, site: u64) -> u64 {
    engine::<B>().vmalloc(size, Gfp::KERNEL | Gfp::ZERO, site)
}

pub(crate) extern "C" fn vzalloc_node<B: Backend>(size: u64, _node: i32, site: u64) -> u64 {
    vzalloc::<B>(size, site)
}

pub(crate) extern "C" fn vmalloc_node<B: Backend>(size: u64, _node: i32, site: u64) -> u64 {
    engine::<B>().vmalloc(size, Gfp::KERNEL, site)
}

pub(crate) extern "C" fn kapi_vmalloc<B: Backend>(size: u64, gfp: u32, site: u64) -> u64 {
    engine::<B>().vmalloc(size, Gfp(gfp), site)
}

pub(crate) extern "C" fn kapi_vmalloc_aligned<B: Backend>(
    size: u64,
    align: u64,
    gfp: u32,
    site: u64,
) -> u64 {
    engine::<B>().vmalloc_aligned(size, align, Gfp(gfp), site)
}

pub(crate) extern "C" fn vfree<B: Backend>(address: u64, site: u64) {
    engine::<B>().vfree(address, site);
}

pub(crate) extern "C" fn is_vmalloc_addr<B: Backend>(address: u64) -> bool {
    engine::<B>().vmalloc_page(address).is_some()
}

pub(crate) extern "C" fn vmalloc_to_page<B: Backend>(address: u64) -> u64 {
    let engine = engine::<B>();
    engine.vmalloc_page(address).map_or(0, |pfn| engine.pages.address(pfn))
}

pub(crate) extern "C" fn vmalloc_to_pfn<B: Backend>(address: u64) -> u64 {
    engine::<B>().vmalloc_page(address).map_or(0, u64::from)
}

pub(crate) extern "C" fn virt_addr_valid<B: Backend>(address: u64) -> bool {
    engine::<B>().page_of(address).is_some()
}

pub(crate) extern "C" fn nr_free_pages<B: Backend>() -> u64 {
    engine::<B>().free_bytes() / PAGE_SIZE
}

/// Largest size for which `kvmalloc` tries physically contiguous memory without reclaim.
const KVMALLOC_TRY_MAX: u64 = 4 << 20;

pub(crate) extern "C" fn kvmalloc<B: Backend>(size: u64, gfp: u32, site: u64) -> u64 {
    let engine = engine::<B>();
    let small = size <= KVMALLOC_TRY_MAX;
    let contiguous = if small { engine.kmalloc(size, Gfp(gfp), site) } else { 0 };
    if contiguous != 0 { contiguous } else { engine.vmalloc(size, Gfp(gfp), site) }
}

pub(crate) extern "C" fn kvmalloc_node<B: Backend>(
    size: u64,
    gfp: u32,
    _node: i32,
    site: u64,
) -> u64 {
    kvmalloc::<B>(size, gfp, site)
}

pub(crate) extern "C" fn kvfree<B: Backend>(address: u64, site: u64) {
    let engine = engine::<B>();
    if engine.vmalloc_page(address).is_some() {
        engine.vfree(address, site);
    } else {
        engine.kfree(address, site);
    }
}

pub(crate) extern "C" fn kvfree_sensitive<B: Backend>(address: u64, size: u64, site: u64) {
    if address > ZERO_SIZE_PTR {
        bytes::block_fill(address, size, 0);
    }
    kvfree::<B>(address, site);
}

/// Gives back the pages of the block's power of two that the size does not need, as Linux does.
pub(crate) extern "C" fn alloc_pages_exact<B: Backend>(size: u64, gfp: u32, site: u64) -> u64 {
    let Some(order) = slablab_kmem::Order::for_bytes(size) else { return 0 };
    let engine = engine::<B>();
    let Some(pfn) = engine.alloc_pages(Gfp(gfp), u32::from(order.0), site) else { return 0 };
    if order.0 > 0 {
        engine.split_page(pfn, u32::from(order.0), site);
    }
    let needed = size.div_ceil(PAGE_SIZE).max(1) as u32;
    (needed..order.pages()).for_each(|page| engine.free_pages(pfn + page, 0, site));
    engine.page_address(pfn)
}

pub(crate) extern "C" fn free_pages_exact<B: Backend>(address: u64, size: u64, site: u64) {
    for page in 0..size.div_ceil(PAGE_SIZE) {
        free_pages::<B>(address + page * PAGE_SIZE, 0, site);
    }
}
