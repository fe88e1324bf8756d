//! Where SLUB_TINY behaves otherwise than SLUB.

use alloc::vec::Vec;

use crate::{CacheArgs, CpuId, Gfp, KmallocType, Machine, Order, Site, SlabFlags, SlubTiny};

const SITE: Site = Site(1);

fn machine() -> Machine<SlubTiny> {
    Machine::builder().cpus(2).memory_bytes(16 << 20).build().unwrap()
}

#[test]
fn an_empty_slab_is_given_back_at_once() {
    let machine = machine();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let cache = machine.cache_create(&CacheArgs::new("tiny", 700)).unwrap();
    let objects: Vec<_> = (0..100).map(|_| cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap()).collect();
    let stats = machine.cache_stats(cache).unwrap();
    assert_eq!((stats.objs_per_slab, stats.order.0), (11, 1), "two pages at most");
    assert_eq!(stats.slabs, 10);
    objects.into_iter().for_each(|object| cpu.free(cache, object, SITE));
    let stats = machine.cache_stats(cache).unwrap();
    assert_eq!(stats.slabs, 0);
    // The first free of each full slab puts it on the list; the last slab was never full.
    let path = |name| stats.paths.get(name);
    assert_eq!((path("free_add_partial"), path("free_remove_partial")), (9, 10));
    assert_eq!((path("alloc_fastpath"), path("alloc_slowpath")), (0, 100));
}

#[test]
fn the_last_object_freed_of_the_first_slab_is_the_next_allocated_on_any_cpu() {
    let machine = machine();
    let cpus = machine.cpus().unwrap();
    let [a, b] = [0, 1].map(|cpu| cpus.cpu(CpuId(cpu)));
    let first = a.kmalloc(100, Gfp::KERNEL, SITE).unwrap();
    let _second = b.kmalloc(100, Gfp::KERNEL, SITE).unwrap();
    a.kfree(first, SITE);
    assert_eq!(b.kmalloc(100, Gfp::KERNEL, SITE), Some(first));
}

#[test]
fn reclaimable_memory_has_no_caches_of_its_own_and_merges() {
    let machine = machine();
    let (normal, reclaimable) = (Gfp::KERNEL, Gfp::KERNEL | Gfp::RECLAIMABLE);
    assert!(machine.cache_by_name("kmalloc-rcl-64").is_none(), "{:?}", KmallocType::Reclaim);
    assert_eq!(
        machine.kmalloc_cache(64, normal, SITE),
        machine.kmalloc_cache(64, reclaimable, SITE)
    );
    let plain = machine.cache_create(&CacheArgs::new("plain", 136)).unwrap();
    let args = CacheArgs::new("reclaimed", 136).flags(SlabFlags::RECLAIM_ACCOUNT);
    assert_eq!(machine.cache_create(&args).unwrap(), plain);
}

#[test]
fn slab_max_order_takes_the_place_of_its_own() {
    let order = |machine: Machine<SlubTiny>| {
        let cache = machine.cache_create(&CacheArgs::new("tiny", 700)).unwrap();
        machine.cache_stats(cache).unwrap().order.0
    };
    let asked = |order| {
        let builder = Machine::builder().cpus(2).memory_bytes(16 << 20).min_objects(16);
        builder.order_max(Order(order)).build().unwrap()
    };
    assert_eq!((order(machine()), order(asked(0)), order(asked(3))), (1, 0, 2));
}
