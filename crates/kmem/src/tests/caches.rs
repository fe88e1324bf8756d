//! Creating, merging and destroying caches: from many threads, and as Linux does.

use alloc::vec::Vec;

use crate::backend::for_each_backend;
use crate::{
    Backend, CacheArgs, CpuId, Error, Gfp, KmallocConfig, KmallocType, Machine, Site, Slab,
    SlabFlags, Slob, Slub,
};

const SITE: Site = Site(1);

/// A cache that a creator merged with while its destroyer was at work was dead on arrival, and two destroyers
/// could vacate one index twice.
fn caches_merge_and_are_destroyed_at_once<B: Backend>() {
    const THREADS: u32 = 4;
    let machine = Machine::<B>::builder().cpus(THREADS).memory_bytes(64 << 20).build().unwrap();
    let caches = machine.caches().len();
    // All taken before the first is at work: destroying borrows, for a moment, CPUs that are in nobody's hands.
    let cpus: Vec<_> = (0..THREADS).map(|cpu| machine.cpu(CpuId(cpu)).unwrap()).collect();
    std::thread::scope(|scope| {
        for cpu in cpus {
            let (machine, thread) = (&machine, cpu.id().0);
            scope.spawn(move || {
                for _ in 0..2_000 {
                    let cache = machine.cache_create(&CacheArgs::new("contended", 1000)).unwrap();
                    assert!(machine.cache_stats(cache).is_some(), "dead on arrival");
                    if thread == 0 {
                        let obj = cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap();
                        cpu.free(cache, obj, SITE);
                    }
                    match cpu.cache_destroy(cache, SITE) {
                        Ok(()) | Err(Error::CpuHolds { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let indexes: Vec<_> = machine.caches().iter().map(|id| id.index()).collect();
    let mut unique = indexes.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), indexes.len(), "two caches share an index");
    assert!(indexes.len() <= caches + 2_000);
    let balance = machine.validate();
    assert!(balance.is_ok(), "{:?}", balance.errors);
}

fn merged_caches_keep_the_alignment_asked_for<B: Backend>() {
    let machine = Machine::<B>::builder().memory_bytes(64 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let plain = machine.cache_create(&CacheArgs::new("plain", 192)).unwrap();
    let aligned = machine.cache_create(&CacheArgs::new("aligned", 192).align(64)).unwrap();
    for i in 0..200 {
        cpu.kmalloc(8 + i % 50, Gfp::KERNEL, SITE).unwrap();
        cpu.alloc(plain, Gfp::KERNEL, SITE).unwrap();
        let obj = cpu.alloc(aligned, Gfp::KERNEL, SITE).unwrap();
        assert!(obj.get().is_multiple_of(64), "{obj}");
    }
}

macro_rules! caches {
    ($($module:ident $variant:ident $name:literal $what:literal,)*) => {
        $(mod $variant {
            #[test]
            fn caches_merge_and_are_destroyed_at_once() {
                super::caches_merge_and_are_destroyed_at_once::<crate::$variant>();
            }
            #[test]
            fn merged_caches_keep_the_alignment_asked_for() {
                super::merged_caches_keep_the_alignment_asked_for::<crate::$variant>();
            }
        })*
    };
}
#[allow(non_snake_case)]
mod each {
    use super::*;
    for_each_backend!(caches);
}

fn machine<B: Backend>() -> Machine<B> {
    Machine::builder().cpus(2).memory_bytes(64 << 20).build().unwrap()
}

#[test]
fn merging_asks_what_each_backend_of_linux_asks() {
    fn merge<B: Backend>() -> bool {
        let machine = machine::<B>();
        let create = |args: CacheArgs| machine.cache_create(&args).unwrap();
        let plain = create(CacheArgs::new("plain", 192));
        create(CacheArgs::new("aligned", 192).align(64)) == plain
    }
    fn alike<B: Backend>() -> bool {
        let machine = machine::<B>();
        let create = |name: &str| machine.cache_create(&CacheArgs::new(name, 192)).unwrap();
        create("one") == create("two")
    }
    assert_eq!((merge::<Slub>(), alike::<Slub>()), (true, true));
    assert_eq!((merge::<Slab>(), alike::<Slab>()), (false, true), "SLAB: align <= s->align");
    assert_eq!((merge::<Slob>(), alike::<Slob>()), (false, false), "SLOB has no slabs to share");
}

#[test]
fn random_kmalloc_copies_are_of_the_normal_type_only() {
    let config = KmallocConfig { copies: 16, ..KmallocConfig::default() };
    let kinds = config.types.len();
    assert_eq!(kinds, KmallocType::ALL.len() - 1);
    let machine =
        Machine::<Slub>::builder().kmalloc(config).memory_bytes(64 << 20).build().unwrap();
    let of_64 = |prefix: &str| {
        let names = machine.cache_names();
        names.iter().filter(|(n, _)| n.starts_with(prefix) && n.ends_with("-64")).count()
    };
    assert_eq!(of_64("kmalloc-rnd-"), 15);
    assert_eq!((of_64("kmalloc-cg-"), of_64("kmalloc-rcl-"), of_64("dma-kmalloc-")), (1, 1, 1));
    let of = |gfp, site| machine.kmalloc_cache(64, gfp, Site(site)).unwrap();
    assert!((0..100).any(|site| of(Gfp::KERNEL, site) != of(Gfp::KERNEL, 0)));
    assert!((0..100).all(|site| of(Gfp::RECLAIMABLE, site) == of(Gfp::RECLAIMABLE, 0)));
}

#[test]
fn slub_takes_no_list_lock_for_new_slabs() {
    let machine = machine::<Slub>();
    let args = CacheArgs::new("growing", 1000).flags(SlabFlags::NO_MERGE);
    let cache = machine.cache_create(&args).unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let locks = || {
        let counts = machine.lock_counts();
        counts.iter().find(|(name, _)| *name == "list_lock").unwrap().1
    };
    let before = locks();
    while machine.cache_stats(cache).unwrap().slabs < 100 {
        cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap();
    }
    assert_eq!(locks() - before, 0, "the node's list was empty all the time");
}

#[test]
fn slab_fills_a_cold_array_with_16_objects_of_a_new_slab() {
    let machine = machine::<Slab>();
    let args = CacheArgs::new("cold", 64).flags(SlabFlags::NO_MERGE);
    let cache = machine.cache_create(&args).unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    // A batch is 60; the first is 16 of a fresh slab, the second what a batch may take.
    let slow = || machine.cache_stats(cache).unwrap().paths.get("alloc_slowpath");
    (0..16).for_each(|_| _ = cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap());
    assert_eq!(slow(), 1);
    cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap();
    assert_eq!(slow(), 2);
}

#[test]
fn slab_rounds_objects_to_16_bytes() {
    let machine = machine::<Slab>();
    for (size, slab_size) in [(1, 16), (8, 16), (9, 16), (16, 16), (17, 24)] {
        let args = CacheArgs::new("tiny", size).flags(SlabFlags::NO_MERGE);
        let stats = machine.cache_stats(machine.cache_create(&args).unwrap()).unwrap();
        assert_eq!(stats.slab_size, slab_size, "{size} bytes");
    }
}
