//! What users know from Linux: order of reuse, distances, limits, merging.

use alloc::vec::Vec;

use crate::{
    Backend, CacheArgs, CheckLevel, CpuId, Gfp, KmallocConfig, Machine, Merging, ObjPtr, Order,
    Site, Slab, SlabFlags, Slub,
};

const SITE: Site = Site(1);

fn machine<B: Backend>() -> Machine<B> {
    Machine::builder().memory_bytes(64 << 20).build().unwrap()
}

/// After a free of a, an allocation gives a; after frees of b and c, allocations give c and b; a
/// batch comes back reversed.
fn last_in_first_out<B: Backend>() {
    let machine = machine::<B>();
    let cache = machine.cache_create(&CacheArgs::new("lifo", 200)).unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let alloc = || cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap();
    let (a, b, c) = (alloc(), alloc(), alloc());
    cpu.free(cache, a, SITE);
    assert_eq!(alloc(), a);
    cpu.free(cache, b, SITE);
    cpu.free(cache, c, SITE);
    assert_eq!((alloc(), alloc()), (c, b));
    let batch: Vec<ObjPtr> = (0..10).map(|_| alloc()).collect();
    cpu.free_bulk(cache, batch.iter().copied(), SITE);
    let again: Vec<ObjPtr> = (0..10).map(|_| alloc()).collect();
    assert!(again.iter().eq(batch.iter().rev()));
}

#[test]
fn slub_is_last_in_first_out() {
    last_in_first_out::<Slub>();
}

#[test]
fn slab_is_last_in_first_out() {
    last_in_first_out::<Slab>();
}

#[test]
fn quiet_kmalloc_32_is_dense() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let at: Vec<u64> = (0..20).map(|_| cpu.kmalloc(32, Gfp::KERNEL, SITE).unwrap().get()).collect();
    assert!(at.windows(2).all(|w| w[1] - w[0] == 32), "{at:?}");
}

#[test]
fn kmalloc_40_scatters_where_a_cache_stays_dense() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let own = machine.cache_create(&CacheArgs::new("forty", 40)).unwrap();
    // Other code uses kmalloc-64 and frees every third of its objects, in no order.
    let churn: Vec<ObjPtr> =
        (0..3000).map(|_| cpu.kmalloc(64, Gfp::KERNEL, SITE).unwrap()).collect();
    for step in [7, 3, 5, 11] {
        for obj in churn.iter().skip(step).step_by(13) {
            cpu.kfree(*obj, SITE);
        }
    }
    let kmalloc: Vec<u64> =
        (0..200).map(|_| cpu.kmalloc(40, Gfp::KERNEL, SITE).unwrap().get()).collect();
    let cached: Vec<u64> =
        (0..200).map(|_| cpu.alloc(own, Gfp::KERNEL, SITE).unwrap().get()).collect();
    let near = |at: &[u64]| at.windows(2).filter(|w| w[0].abs_diff(w[1]) <= 64).count();
    assert_eq!(cpu.ksize(ObjPtr::new(kmalloc[0]).unwrap()), 64);
    assert!(near(&kmalloc) < 100, "kmalloc(40) scatters: {} near", near(&kmalloc));
    assert!(near(&cached) > 190, "the cache stays dense: {} near", near(&cached));
}

/// It was the size that was asked for, also where SLUB lets a caller use the padding.
#[test]
fn ksize_of_an_aligned_cache_has_its_padding() {
    fn sizes<B: Backend>(check: CheckLevel) -> [u64; 4] {
        let machine = Machine::<B>::builder().check(check).build().unwrap();
        let cpu = machine.cpu(CpuId(0)).unwrap();
        let of = |flags| {
            let args = CacheArgs::new("forty", 36).flags(flags);
            let cache = machine.cache_create(&args).unwrap();
            cpu.ksize(cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap())
        };
        let rcu = SlabFlags::TYPESAFE_BY_RCU | SlabFlags::HWCACHE_ALIGN;
        [of(SlabFlags::NO_MERGE), of(SlabFlags::HWCACHE_ALIGN), of(rcu), of(SlabFlags::RED_ZONE)]
    }
    assert_eq!(sizes::<Slub>(CheckLevel::Cheap), [40, 64, 40, 36]);
    assert_eq!(sizes::<Slub>(CheckLevel::Full), [36; 4]);
    assert_eq!(sizes::<Slab>(CheckLevel::Cheap), [36; 4]);
}

#[test]
fn sizes_round_to_classes() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    for (size, class) in
        [(1, 8), (24, 32), (40, 64), (65, 96), (97, 128), (129, 192), (193, 256), (8192, 8192)]
    {
        let obj = cpu.kmalloc(size, Gfp::KERNEL, SITE).unwrap();
        assert_eq!(cpu.ksize(obj), class, "kmalloc({size})");
    }
    assert_eq!(cpu.ksize(cpu.kmalloc(8193, Gfp::KERNEL, SITE).unwrap()), 16384);
    assert_eq!(cpu.ksize(ObjPtr::ZERO_SIZE), 0);
}

#[test]
fn gfp_flags_choose_the_kind_of_kmalloc() {
    let machine = machine::<Slub>();
    let cache = |gfp| {
        let id = machine.kmalloc_cache(100, gfp, SITE).unwrap();
        machine.cache_stats(id).unwrap().name
    };
    assert_eq!(cache(Gfp::KERNEL), "kmalloc-128");
    assert_eq!(cache(Gfp::KERNEL_ACCOUNT), "kmalloc-cg-128");
    assert_eq!(cache(Gfp::KERNEL | Gfp::RECLAIMABLE), "kmalloc-rcl-128");
    assert_eq!(cache(Gfp::KERNEL | Gfp::DMA), "dma-kmalloc-128");
    assert_eq!(cache(Gfp::KERNEL_ACCOUNT | Gfp::DMA), "dma-kmalloc-128");
    let config = KmallocConfig { types: Vec::new(), ..KmallocConfig::default() };
    let plain = Machine::<Slub>::builder().kmalloc(config).build().unwrap();
    let id = plain.kmalloc_cache(100, Gfp::KERNEL_ACCOUNT, SITE).unwrap();
    assert_eq!(plain.cache_stats(id).unwrap().name, "kmalloc-128");
}

#[test]
fn own_classes_and_copies() {
    let config =
        KmallocConfig { classes: [48, 160, 8192].into(), copies: 4, ..KmallocConfig::default() };
    let machine = Machine::<Slub>::builder().kmalloc(config).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    assert_eq!(cpu.ksize(cpu.kmalloc(49, Gfp::KERNEL, SITE).unwrap()), 160);
    let mut caches: Vec<_> =
        (0..64).filter_map(|s| machine.kmalloc_cache(40, Gfp::KERNEL, Site(s))).collect();
    caches.sort_unstable();
    caches.dedup();
    assert_eq!(caches.len(), 4, "call sites spread over the copies");
}

#[test]
fn like_caches_merge_as_in_linux() {
    let create = |machine: &Machine<Slub>, name: &str, size, flags| {
        machine.cache_create(&CacheArgs::new(name, size).flags(flags)).unwrap()
    };
    let machine = machine::<Slub>();
    let none = SlabFlags::NONE;
    let first = create(&machine, "first", 100, none);
    assert_eq!(create(&machine, "rounds_to_the_same", 97, none), first);
    assert_ne!(create(&machine, "larger", 112, none), first);
    assert_ne!(create(&machine, "reclaimable", 100, SlabFlags::RECLAIM_ACCOUNT), first);
    assert_ne!(create(&machine, "own", 100, SlabFlags::NO_MERGE), first);
    assert_ne!(create(&machine, "type_safe", 100, SlabFlags::TYPESAFE_BY_RCU), first);
    assert_eq!(machine.cache_by_name("rounds_to_the_same"), Some(first));
    let stats = machine.cache_stats(first).unwrap();
    assert_eq!(stats.aliases, ["rounds_to_the_same"]);
    // Destroying an alias leaves the cache to the other.
    let cpu = machine.cpu(CpuId(0)).unwrap();
    cpu.cache_destroy(first, SITE).unwrap();
    assert!(cpu.alloc(first, Gfp::KERNEL, SITE).is_some());
    let off = Machine::<Slub>::builder().merging(Merging::Off).build().unwrap();
    assert_ne!(create(&off, "a", 100, none), create(&off, "b", 100, none));
}

#[test]
fn krealloc_keeps_contents() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let small = cpu.krealloc(None, 20, Gfp::KERNEL, SITE).unwrap();
    (0..32).for_each(|i| machine.core.arena.set_byte(small.get() + i, i as u8));
    assert_eq!(cpu.krealloc(Some(small), 32, Gfp::KERNEL, SITE), Some(small));
    let large = cpu.krealloc(Some(small), 100, Gfp::KERNEL, SITE).unwrap();
    assert_ne!(large, small);
    assert!((0..32).all(|i| machine.core.arena.byte(large.get() + i) == i as u8));
    assert!(cpu.krealloc(Some(large), 5 << 20, Gfp::KERNEL, SITE).is_none());
    assert_eq!(cpu.krealloc(Some(large), 0, Gfp::KERNEL, SITE), Some(ObjPtr::ZERO_SIZE));
    assert_eq!(machine.gauges().live_bytes, 0);
}

#[test]
fn pages_exact_gives_the_rest_back() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let pfn = cpu.alloc_pages_exact(5 * 4096, Gfp::KERNEL).unwrap();
    assert!(machine.validate().is_ok());
    assert_eq!(cpu.alloc_pages(Order(0), Gfp::KERNEL).map(|p| p.0 >= pfn.0 + 5), Some(true));
    cpu.free_pages_exact(pfn, 5 * 4096, SITE);
    let balance = machine.validate();
    assert!(balance.is_ok(), "{:?}", balance.errors);
    assert_eq!(machine.findings_count(), 0);
}

#[test]
fn a_split_block_is_freed_page_by_page() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let pfn = cpu.alloc_pages(Order(2), Gfp::KERNEL).unwrap();
    cpu.split_pages(pfn, Order(1), SITE);
    assert_eq!(machine.take_findings().len(), 1, "the block is not of that order");
    cpu.split_pages(pfn, Order(2), SITE);
    (0..4).for_each(|i| cpu.free_pages(crate::Pfn(pfn.0 + i), Order(0), SITE));
    assert_eq!(machine.take_findings(), []);
    assert!(machine.validate().is_ok());
}

#[test]
fn typesafe_slabs_wait_for_readers() {
    let machine = Machine::<Slub>::builder().cpus(2).memory_bytes(64 << 20).build().unwrap();
    let args = CacheArgs::new("rcu", 1000).flags(SlabFlags::TYPESAFE_BY_RCU);
    let cache = machine.cache_create(&args).unwrap();
    let (writer, reader) = (machine.cpu(CpuId(0)).unwrap(), machine.cpu(CpuId(1)).unwrap());
    let all: Vec<_> = (0..200).map(|_| writer.alloc(cache, Gfp::KERNEL, SITE).unwrap()).collect();
    let deferred = || {
        let pages = (1..machine.core.pages.count()).map(crate::Pfn);
        let kind = crate::page::Kind::Deferred;
        let page = |pfn| machine.core.pages.get(pfn);
        pages.filter(|&pfn| page(pfn).kind() == kind && page(pfn).head.get() == pfn.0).count()
    };
    reader.rcu_read(|| {
        writer.free_bulk(cache, all.into_iter(), SITE);
        writer.shrink(cache);
        (0..10).for_each(|_| writer.tick(0));
        assert!(deferred() > 5, "pages wait for the reader");
        assert!(machine.validate().is_ok());
    });
    writer.rcu_barrier();
    assert_eq!(deferred(), 0);
    assert!(machine.validate().is_ok());
}

#[test]
fn a_reader_that_panics_leaves_its_section() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let read = std::panic::AssertUnwindSafe(|| cpu.rcu_read(|| panic!("on purpose")));
    assert!(std::panic::catch_unwind(read).is_err());
    assert_eq!(cpu.rcu_read(|| 5), 5);
    cpu.rcu_barrier();
}

#[test]
fn constructors_run_once_an_object() {
    use core::sync::atomic::{AtomicUsize, Ordering};
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let ctor = crate::Ctor {
        func: |_, by| {
            RUNS.fetch_add(by, Ordering::Relaxed);
        },
        context: 1,
    };
    let machine = machine::<Slub>();
    let cache = machine.cache_create(&CacheArgs::new("made", 256).ctor(ctor)).unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    for _ in 0..100 {
        let obj = cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap();
        cpu.free(cache, obj, SITE);
    }
    let objects = machine.cache_stats(cache).unwrap().objects_total;
    assert_eq!(RUNS.load(Ordering::Relaxed) as u64, objects);
}

#[test]
fn slabinfo_reads_like_the_kernels() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let cache = machine.cache_create(&CacheArgs::new("with space", 600)).unwrap();
    let _live: Vec<_> = (0..30).map(|_| cpu.alloc(cache, Gfp::KERNEL, SITE)).collect();
    let text = machine.slabinfo();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("slabinfo - version: 2.1"));
    assert!(lines.next().unwrap().starts_with("# name            <active_objs> <num_objs>"));
    // slabtop's parser (libproc2, slabinfo.c) reads a line like this.
    let mut seen = 0;
    for line in lines {
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(fields.len(), 16, "{line}");
        assert_eq!(
            (fields[6], fields[7], fields[11], fields[12]),
            (":", "tunables", ":", "slabdata")
        );
        let numbers = [1, 2, 3, 4, 5, 8, 9, 10, 13, 14, 15];
        let numbers = numbers.map(|i| fields[i].parse::<u64>().unwrap());
        assert!(numbers[0] <= numbers[1], "{line}");
        if fields[0] == "with_space" {
            assert_eq!((numbers[0], numbers[2]), (30, 600));
            seen += 1;
        }
    }
    assert_eq!(seen, 1);
}

#[test]
fn buddyinfo_counts_all_free_memory() {
    let machine = machine::<Slub>();
    let text = machine.buddyinfo();
    let mut pages = 0;
    for line in text.lines() {
        assert!(line.starts_with("Node 0, zone "), "{line}");
        let counts = line.split_whitespace().skip(4).map(|count| count.parse::<u64>().unwrap());
        pages += counts.enumerate().map(|(order, count)| count << order).sum::<u64>();
    }
    assert_eq!(pages, (64 << 20) / 4096 - 1, "all but page 0");
}

#[test]
fn attributes_have_sysfs_names() {
    let machine = machine::<Slub>();
    let id = machine.cache_by_name("kmalloc-64").unwrap();
    let attributes = machine.cache_attributes(id).unwrap();
    let get = |name| attributes.iter().find(|(n, _)| *n == name).unwrap().1.as_str();
    assert_eq!((get("object_size"), get("objs_per_slab"), get("order")), ("64", "64", "0"));
    assert_eq!((get("cpu_partial"), get("min_partial"), get("align")), ("120", "5", "64"));
    assert_eq!((get("alloc_fastpath"), get("cpu_slabs")), ("0", "0"));
}

#[test]
fn cpu_slabs_are_those_that_cpus_allocate_from_and_their_partial_ones() {
    let machine = machine::<Slub>();
    let id = machine.cache_by_name("kmalloc-64").unwrap();
    let cpu_slabs = || {
        let attributes = machine.cache_attributes(id).unwrap();
        attributes.into_iter().find(|(name, _)| *name == "cpu_slabs").unwrap().1
    };
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let objects: Vec<_> = (0..192).map(|_| cpu.alloc(id, Gfp::KERNEL, SITE).unwrap()).collect();
    assert_eq!(cpu_slabs(), "1");
    // One object of a full slab makes it a partial one of the CPU's.
    cpu.free(id, objects[0], SITE);
    cpu.free(id, objects[64], SITE);
    assert_eq!(cpu_slabs(), "3");
    cpu.flush(id);
    assert_eq!(cpu_slabs(), "0");
    objects.into_iter().enumerate().filter(|(place, _)| ![0, 64].contains(place)).for_each(
        |(_, object)| {
            cpu.free(id, object, SITE);
        },
    );
}

#[test]
fn memory_goes_back_to_the_system() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let all: Vec<_> =
        (0..5000).map(|_| cpu.kmalloc(2048, Gfp::KERNEL | Gfp::ZERO, SITE).unwrap()).collect();
    all.into_iter().for_each(|obj| cpu.kfree(obj, SITE));
    assert!(cpu.reclaim() > 8 << 20);
    assert_eq!(machine.gauges().slab_bytes, 0);
    assert!(machine.validate().is_ok());
    let obj = cpu.kmalloc(2048, Gfp::KERNEL, SITE).unwrap();
    cpu.kfree(obj, SITE);
}

/// Returns the bytes of a machine's memory that the operating system has committed: the pages
/// marked present (bit 63) in `/proc/self/pagemap`.
fn resident(machine: &Machine<Slub>, memory_bytes: u64) -> u64 {
    use std::os::unix::fs::FileExt;
    let base = machine.address(ObjPtr::new(8).unwrap()).as_ptr().addr() as u64 / 4096;
    let mut entries = alloc::vec![0; (memory_bytes / 4096 * 8) as usize];
    let pagemap = std::fs::File::open("/proc/self/pagemap").unwrap();
    pagemap.read_exact_at(&mut entries, base * 8).unwrap();
    entries.chunks(8).filter(|entry| entry[7] & 0x80 != 0).count() as u64 * 4096
}

#[test]
fn shrinking_a_cache_gives_its_memory_back() {
    let machine = machine::<Slub>();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let cache = machine.cache_create(&CacheArgs::new("large", 1000)).unwrap();
    let all: Vec<_> = (0..30_000).map(|_| cpu.zalloc(cache, Gfp::KERNEL, SITE).unwrap()).collect();
    assert!(resident(&machine, 64 << 20) > 28 << 20);
    all.into_iter().for_each(|obj| cpu.free(cache, obj, SITE));
    assert!(cpu.shrink(cache) > 28 << 20);
    assert!(resident(&machine, 64 << 20) < 1 << 20, "{} bytes stay", resident(&machine, 64 << 20));
    assert_eq!(cpu.shrink(cache), 0, "what is clean is not given again");
    assert!(machine.validate().is_ok());
}

#[test]
fn what_freed_memory_holds_is_bounded() {
    let machine = Machine::<Slub>::builder().memory_bytes(512 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let all: Vec<_> =
        (0..200_000).map(|_| cpu.kmalloc(2048, Gfp::KERNEL | Gfp::ZERO, SITE).unwrap()).collect();
    assert!(resident(&machine, 512 << 20) > 380 << 20);
    all.into_iter().for_each(|obj| cpu.kfree(obj, SITE));
    assert!(
        resident(&machine, 512 << 20) < 80 << 20,
        "{} bytes stay",
        resident(&machine, 512 << 20)
    );
}
