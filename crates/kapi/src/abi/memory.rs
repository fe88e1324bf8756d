//! `slab.h`, `gfp.h`, `vmalloc.h`: what a module allocates with.
//!
//! `site` is the call's return address, which the jump into the host puts behind the last argument. There is one
//! node, so that the `_node` functions do not look at theirs.

use slablab_kmem::{Backend, Gfp, PAGE_SIZE, SlabFlags};

use crate::job::Version;
use crate::ledger::Source;
use crate::machine::caches;
use crate::machine::engine::{Engine, ZERO_SIZE_PTR, class_bytes};
use crate::machine::handle::{CacheHandle, Shape, cache_handle};
use crate::nodes;
use crate::raw::{bytes, shared};
use crate::runtime::{report_foreign, runtime};

/// Largest size for which `kvmalloc` tries physically contiguous memory without reclaim.
const KVMALLOC_TRY_MAX: u64 = 4 << 20;

/// Flag of a cache that no module destroys (`runtime/host.h`).
const KAPI_SLAB_STAYS: u32 = 0x8000_0000;

/// Makes functions with the C interface; `engine` is the one that was installed.
macro_rules! exported {
    ($($(#[$doc:meta])* fn $name:ident($engine:ident $(, $arg:ident: $type:ty)*) $(-> $result:ty)? $body:block)*) => {
        $($(#[$doc])*
        pub(crate) extern "C" fn $name<B: Backend>($($arg: $type),*) $(-> $result)? {
            let $engine: &'static Engine<B> = shared::installed();
            $body
        })*
    };
}

exported! {
    fn kmalloc(engine, size: u64, gfp: u32, site: u64) -> u64 { engine.kmalloc(size, Gfp(gfp), site) }
    fn kmalloc_node(_engine, size: u64, gfp: u32, _node: i32, site: u64) -> u64 { kmalloc::<B>(size, gfp, site) }
    fn kzalloc(engine, size: u64, gfp: u32, site: u64) -> u64 { engine.kmalloc(size, Gfp(gfp) | Gfp::ZERO, site) }
    fn kfree(engine, address: u64, site: u64) { engine.kfree(address, site) }
    fn ksize(engine, address: u64) -> u64 { engine.ksize(address) }
    fn kfree_sensitive(engine, address: u64, site: u64) {
        if address > ZERO_SIZE_PTR {
            bytes::block_fill(address, engine.ksize(address), 0);
        }
        engine.kfree(address, site);
    }
    fn krealloc(engine, old: u64, size: u64, gfp: u32, site: u64) -> u64 {
        if size == 0 {
            engine.kfree(old, site);
            return ZERO_SIZE_PTR;
        }
        let have = engine.usable(old);
        if have >= size {
            engine.resize(old, size);
            return old;
        }
        let new = engine.kmalloc(size, Gfp(gfp), site);
        if new != 0 && old > ZERO_SIZE_PTR {
            bytes::block_copy(old, new, have);
            engine.kfree(old, site);
        }
        new
    }
    /// As krealloc, also of an area and into one.
    fn kapi_kvrealloc(engine, old: u64, size: u64, gfp: u32, site: u64) -> u64 {
        if size == 0 {
            kvfree::<B>(old, site);
            return ZERO_SIZE_PTR;
        }
        let have = if engine.vmalloc_page(old).is_some() { engine.vmalloc_bytes(old) } else { engine.usable(old) };
        if have >= size {
            engine.resize(old, size);
            return old;
        }
        let new = kvmalloc::<B>(size, gfp, site);
        if new != 0 && old > ZERO_SIZE_PTR {
            bytes::block_copy(old, new, have);
            kvfree::<B>(old, site);
        }
        new
    }
    /// As krealloc, of an area and into one.
    fn vrealloc(engine, old: u64, size: u64, gfp: u32, site: u64) -> u64 {
        if size == 0 {
            engine.vfree(old, site);
            return 0;
        }
        let have = if old == 0 { 0 } else { engine.vmalloc_bytes(old).next_multiple_of(PAGE_SIZE) };
        if have >= size {
            engine.resize(old, size);
            return old;
        }
        let new = engine.vmalloc(size, Gfp(gfp), site);
        if new != 0 && old != 0 {
            bytes::block_copy(old, new, have);
            engine.vfree(old, site);
        }
        new
    }
    fn kfree_bulk(engine, count: u64, objects: u64, site: u64) {
        bytes::pointers(objects, count).iter().for_each(|&object| engine.kfree(object, site));
    }

    fn kvmalloc(engine, size: u64, gfp: u32, site: u64) -> u64 {
        // An area is there instead: the attempt is not worth all that shrinkers have.
        let try_gfp = Gfp(gfp) | Gfp::NORETRY;
        let contiguous = if size <= KVMALLOC_TRY_MAX { engine.kmalloc(size, try_gfp, site) } else { 0 };
        if contiguous != 0 { contiguous } else { engine.vmalloc(size, Gfp(gfp), site) }
    }
    fn kvmalloc_node(_engine, size: u64, gfp: u32, _node: i32, site: u64) -> u64 { kvmalloc::<B>(size, gfp, site) }
    fn kvfree(engine, address: u64, site: u64) {
        match engine.vmalloc_page(address) {
            Some(_) => engine.vfree(address, site),
            None => engine.kfree(address, site),
        }
    }
    fn kvfree_sensitive(_engine, address: u64, size: u64, site: u64) {
        if address > ZERO_SIZE_PTR {
            bytes::block_fill(address, size, 0);
        }
        kvfree::<B>(address, site);
    }

    /// `freeptr`: offset of the free pointer, negative for none; `sheaf`: objects of a sheaf, 0 for the usual number.
    fn kapi_cache_create(
        engine, name: u64, size: u64, align: u64, flags: u32, ctor: u64, usersize: u32, freeptr: i64, sheaf: u32
    ) -> u64 {
        let name = bytes::string(name, 128).unwrap_or_default();
        let shape = Shape {
            usersize,
            freeptr_offset: u32::try_from(freeptr).ok(),
            sheaf_capacity: sheaf,
            stays: flags & KAPI_SLAB_STAYS != 0,
            site: nodes::site(),
        };
        caches::create(engine, &name, size, align, slab_flags(flags), ctor, shape)
    }
    /// Allocates for `kfree` from a cache of a set of buckets; from those of all where kfree knows no other.
    fn kapi_bucket_alloc(engine, cache: u64, size: u64, gfp: u32, site: u64) -> u64 {
        if cache == 0 || !B::KIND.has_kmalloc_caches() {
            return engine.kmalloc(size, Gfp(gfp), site);
        }
        engine.bucket_alloc(cache_handle(cache), size, Gfp(gfp), site)
    }
    fn kapi_cache_destroy(engine, cache: u64, site: u64) { caches::destroy(engine, cache, site) }
    fn kmem_cache_shrink(engine, cache: u64) -> i32 {
        engine.cache_shrink(cache_handle(cache));
        0
    }
    fn kmem_cache_alloc(engine, cache: u64, gfp: u32, site: u64) -> u64 {
        engine.cache_alloc(cache_handle(cache), Gfp(gfp), site)
    }
    fn kmem_cache_alloc_node(_engine, cache: u64, gfp: u32, _node: i32, site: u64) -> u64 {
        kmem_cache_alloc::<B>(cache, gfp, site)
    }
    fn kmem_cache_zalloc(engine, cache: u64, gfp: u32, site: u64) -> u64 {
        let cache: &CacheHandle = cache_handle(cache);
        let object = engine.cache_alloc(cache, Gfp(gfp), site);
        if object != 0 {
            bytes::block_fill(object, u64::from(cache.object_bytes), 0);
        }
        object
    }
    fn kmem_cache_free(engine, cache: u64, object: u64, site: u64) {
        if object != 0 {
            engine.cache_free(cache_handle(cache), object, site);
        }
    }
    fn kmem_cache_alloc_bulk(engine, cache: u64, gfp: u32, count: u64, objects: u64, site: u64) -> i32 {
        let got = caches::alloc_bulk(engine, cache, Gfp(gfp), count, objects, site);
        // Linux 7 says only whether they are there.
        if runtime().job.version >= Version::new(7, 0, 0) { i32::from(got > 0) } else { got }
    }
    fn kmem_cache_free_bulk(engine, cache: u64, count: u64, objects: u64, site: u64) {
        let objects = bytes::pointers(objects, count);
        match cache {
            // Without a cache they are kmalloc's.
            0 => objects.iter().for_each(|&object| engine.kfree(object, site)),
            _ => objects.iter().for_each(|&object| engine.cache_free(cache_handle(cache), object, site)),
        }
    }

    fn __get_free_pages(engine, gfp: u32, order: u32, site: u64) -> u64 {
        engine.alloc_pages(Gfp(gfp), order, site).map_or(0, |pfn| engine.page_address(pfn))
    }
    fn get_zeroed_page(_engine, gfp: u32, site: u64) -> u64 {
        let Gfp(gfp) = Gfp(gfp) | Gfp::ZERO;
        __get_free_pages::<B>(gfp, 0, site)
    }
    fn free_pages(engine, address: u64, order: u32, site: u64) {
        match engine.page_of(address) {
            _ if address == 0 => {}
            Some(pfn) => engine.free_pages(pfn, order, site),
            None => report_foreign("free_pages", address, site),
        }
    }
    /// Gives back the pages of the block's power of two that the size does not need, as Linux does.
    fn alloc_pages_exact(engine, size: u64, gfp: u32, site: u64) -> u64 {
        let Some(order) = slablab_kmem::Order::for_bytes(size) else { return 0 };
        let Some(pfn) = engine.alloc_pages(Gfp(gfp), u32::from(order.0), site) else { return 0 };
        if order.0 > 0 {
            engine.split_page(pfn, u32::from(order.0), site);
        }
        let needed = size.div_ceil(PAGE_SIZE).max(1) as u32;
        (needed..order.pages()).for_each(|page| engine.free_pages(pfn + page, 0, site));
        engine.page_address(pfn)
    }
    fn free_pages_exact(_engine, address: u64, size: u64, site: u64) {
        (0..size.div_ceil(PAGE_SIZE)).for_each(|page| free_pages::<B>(address + page * PAGE_SIZE, 0, site));
    }
    fn alloc_pages(engine, gfp: u32, order: u32, site: u64) -> u64 {
        engine.alloc_pages(Gfp(gfp), order, site).map_or(0, |pfn| engine.pages.address(pfn))
    }
    fn alloc_pages_node(_engine, _node: i32, gfp: u32, order: u32, site: u64) -> u64 {
        alloc_pages::<B>(gfp, order, site)
    }
    fn __free_pages(engine, page: u64, order: u32, site: u64) {
        match engine.pages.pfn(page) {
            _ if page == 0 => {}
            Some(pfn) => engine.free_pages(pfn, order, site),
            None => report_foreign("__free_pages", page, site),
        }
    }
    fn split_page(engine, page: u64, order: u32, site: u64) {
        match engine.pages.pfn(page) {
            Some(pfn) => engine.split_page(pfn, order, site),
            None => report_foreign("split_page", page, site),
        }
    }
    fn put_page(engine, page: u64, site: u64) {
        if let Some(pfn) = engine.pages.pfn(page).map(|pfn| engine.pages.head(pfn)) {
            engine.free_pages(pfn, engine.pages.order(pfn), site);
        }
    }

    fn vmalloc(engine, size: u64, site: u64) -> u64 { engine.vmalloc(size, Gfp::KERNEL, site) }
    fn vmalloc_node(_engine, size: u64, _node: i32, site: u64) -> u64 { vmalloc::<B>(size, site) }
    fn vzalloc(engine, size: u64, site: u64) -> u64 { engine.vmalloc(size, Gfp::KERNEL | Gfp::ZERO, site) }
    fn vzalloc_node(_engine, size: u64, _node: i32, site: u64) -> u64 { vzalloc::<B>(size, site) }
    fn kapi_vmalloc(engine, size: u64, gfp: u32, site: u64) -> u64 { engine.vmalloc(size, Gfp(gfp), site) }
    fn kapi_vmalloc_aligned(engine, size: u64, align: u64, gfp: u32, site: u64) -> u64 {
        engine.vmalloc_aligned(size, align, Gfp(gfp), site)
    }
    fn vfree(engine, address: u64, site: u64) { engine.vfree(address, site) }
    /// `records`: an array of `count` pointers to `struct page`.
    fn kapi_vmap(engine, records: u64, count: u64, site: u64) -> u64 {
        engine.vmap(&bytes::pointers(records, count), site)
    }
    fn vunmap(engine, address: u64, site: u64) { engine.vunmap(address, site) }
    /// Pages that no check counts.
    fn kapi_take_pages(engine, gfp: u32, order: u32) -> u64 {
        engine.take_pages(Gfp(gfp), order).map_or(0, |pfn| engine.pages.address(pfn))
    }
    fn kapi_give_pages(engine, page: u64, order: u32) {
        let pfn = engine.pages.pfn(page).expect("the runtime gives back what it took");
        engine.give_pages(pfn, order);
    }
    /// What [`kapi_take_pages`] gave is the module's from now on.
    fn kapi_enter_pages(engine, page: u64, order: u32, site: u64) {
        let pfn = engine.pages.pfn(page).expect("the runtime enters what it took");
        engine.enter_pages(pfn, order, site);
    }
    /// `what`: a number of `enum kapi_made` (`runtime/host.h`).
    fn kapi_made(engine, address: u64, bytes: u64, what: u32, site: u64) {
        engine.made(address, bytes, Source::made(what), site);
    }
    fn kapi_unmade(engine, address: u64, what: u32, site: u64) -> bool {
        engine.unmade(address, &Source::made(what), site)
    }
    fn is_vmalloc_addr(engine, address: u64) -> bool { engine.vmalloc_page(address).is_some() }
    fn vmalloc_to_page(engine, address: u64) -> u64 {
        engine.vmalloc_page(address).map_or(0, |pfn| engine.pages.address(pfn))
    }
    fn vmalloc_to_pfn(engine, address: u64) -> u64 { engine.vmalloc_page(address).map_or(0, u64::from) }
    fn virt_addr_valid(engine, address: u64) -> bool { engine.page_of(address).is_some() }
    fn nr_free_pages(engine) -> u64 { engine.free_bytes() / PAGE_SIZE }
}

pub(crate) extern "C" fn kmalloc_size_roundup(size: u64) -> u64 {
    class_bytes(size)
}

pub(crate) extern "C" fn kmem_cache_size(cache: u64) -> u32 {
    cache_handle(cache).object_bytes
}

pub(crate) extern "C" fn kmem_cache_name(cache: u64) -> u64 {
    cache_handle(cache).name.as_ptr() as u64
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
