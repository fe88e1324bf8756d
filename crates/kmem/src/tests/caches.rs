//! Creating, merging and destroying caches: from many threads, and as Linux does.

use alloc::vec::Vec;

use crate::backend::for_each_backend;
use crate::{
    Backend, CacheArgs, CheckLevel, CpuId, Ctor, Error, Geometry, Gfp, KmallocConfig, Machine,
    Order, Site, Slab, SlabFlags, Slob, Slub, Tunables,
};

const SITE: Site = Site(1);

/// A creator used to get a dead cache if it merged while a destroyer was at work, and two destroyers could
/// vacate one index twice.
fn caches_merge_and_are_destroyed_at_once<B: Backend>() {
    const THREADS: u32 = 4;
    let machine = Machine::<B>::builder().cpus(THREADS).memory_bytes(64 << 20).build().unwrap();
    let caches = machine.caches().len();
    // All CPUs are taken before the first is at work: destroying borrows, for a moment, CPUs that no thread
    // holds.
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

/// Sizes of another kernel had no room for what this machine keeps beside objects. Red zones lay over the next object, a
/// free pointer over what the constructor had made.
fn sizes_of_another_kernel_leave_the_contents_alone<B: Backend>() {
    if !B::KIND.takes_geometry() {
        return;
    }
    let geometry = Geometry { slab_size: 64, order: Some(Order(0)) };
    let args = CacheArgs::new("recorded", 64).geometry(geometry);
    for check in [CheckLevel::Off, CheckLevel::Cheap, CheckLevel::Full] {
        let machine = Machine::<B>::builder().memory_bytes(16 << 20).check(check).build().unwrap();
        let cpu = machine.cpu(CpuId(0)).unwrap();
        let cache = machine.cache_create(&args).unwrap();
        let objects: Vec<_> =
            (0..50).map(|_| cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap()).collect();
        let bytes = |i: usize| objects[i].get()..objects[i].get() + 64;
        (0..50).for_each(|i| machine.core.arena.fill(bytes(i).start, 64, i as u8));
        let is_own = |i: usize| bytes(i).all(|at| machine.core.arena.byte(at) == i as u8);
        assert!((0..50).all(is_own), "objects overlap");
        cpu.free_bulk(cache, objects.into_iter(), SITE);
        assert_eq!(machine.take_findings(), []);
        let constructed = args.clone().ctor(Ctor { func: |_, _| (), context: 0 });
        let inside = CacheArgs { freeptr_offset: Some(56), ..constructed.clone() };
        assert!(machine.cache_create(&inside).is_ok());
        // Checks make room of their own.
        let refused = machine.cache_create(&constructed).is_err_and(
            |error| matches!(error, Error::Cache { what, .. } if what.contains("freeptr")),
        );
        assert_eq!(refused, check < CheckLevel::Full);
        let geometry = Geometry { slab_size: 72, ..geometry };
        assert!(machine.cache_create(&constructed.geometry(geometry)).is_ok());
    }
}

/// 256 used to be taken for 0, and so on.
fn values_beyond_a_tunable_are_refused<B: Backend>() {
    for tunable in B::TUNABLES.iter().filter(|tunable| tunable.max < u32::MAX) {
        let largest = Tunables::default().with(tunable.name, tunable.max);
        for value in [tunable.max + 1, 256.max(tunable.max + 1), u32::MAX] {
            let tunables = Tunables::default().with(tunable.name, value);
            let machine = machine::<B>();
            let create = |tunables: &Tunables| {
                machine.cache_create(&CacheArgs::new("tuned", 512).tunables(tunables.clone()))
            };
            assert!(matches!(create(&tunables), Err(Error::Cache { .. })), "{tunable:?} {value}");
            create(&largest).unwrap();
            let refused = Machine::<B>::builder().tunables(tunables).build();
            let what = tunable.name;
            assert!(matches!(refused, Err(Error::Machine { what: w, .. }) if w == what));
        }
    }
}

/// An offset of 4 billion and 8 used to wrap to one inside.
fn free_pointers_are_inside<B: Backend>() {
    let machine = machine::<B>();
    for offset in [u32::MAX - 7, 64, 60, 4] {
        let freeptr_offset = Some(offset);
        let args = CacheArgs { freeptr_offset, ..CacheArgs::new("inside", 64) };
        assert!(matches!(machine.cache_create(&args), Err(Error::Cache { .. })), "{offset}");
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
            #[test]
            fn sizes_of_another_kernel_leave_the_contents_alone() {
                super::sizes_of_another_kernel_leave_the_contents_alone::<crate::$variant>();
            }
            #[test]
            fn values_beyond_a_tunable_are_refused() {
                super::values_beyond_a_tunable_are_refused::<crate::$variant>();
            }
            #[test]
            fn free_pointers_are_inside() {
                super::free_pointers_are_inside::<crate::$variant>();
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
    // A batch is 60 objects; the first is 16 of a fresh slab, the second what a batch may take.
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
