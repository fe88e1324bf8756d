//! What SLUB with sheaves does: capacities, counters, what is parked, and where the sheaves are.

use alloc::vec::Vec;

use crate::{
    CacheArgs, CacheId, Cpu, CpuId, Gfp, Machine, NodeId, ObjPtr, Site, SlubSheaves, Tunables,
};

const SITE: Site = Site(1);

fn machine(cpus: u32, nodes: u32) -> Machine<SlubSheaves> {
    Machine::builder().cpus(cpus).nodes(nodes).memory_bytes(64 << 20).build().unwrap()
}

fn alloc(cpu: &Cpu<'_, SlubSheaves>, cache: CacheId, count: usize) -> Vec<ObjPtr> {
    (0..count).map(|_| cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap()).collect()
}

fn attribute(machine: &Machine<SlubSheaves>, cache: CacheId, name: &str) -> String {
    let all = machine.cache_attributes(cache).unwrap();
    all.into_iter().find(|(known, _)| *known == name).unwrap().1
}

use alloc::string::String;

/// The values of `/sys/kernel/slab/X/sheaf_capacity` in 7.3.
#[test]
fn capacity_goes_by_size_and_fills_a_kmalloc_block() {
    let machine = machine(1, 1);
    for (name, size, capacity) in [
        ("a", 8, "60"),
        ("b", 248, "60"),
        ("c", 256, "28"),
        ("d", 1016, "28"),
        ("e", 1024, "12"),
        ("f", 4096, "4"),
        ("maple_node", 256, "32"),
    ] {
        let cache = machine.cache_create(&CacheArgs::new(name, size)).unwrap();
        assert_eq!(attribute(&machine, cache, "sheaf_capacity"), capacity, "{name}");
    }
}

/// What kernels with other constants in `calculate_sheaf_capacity()` have: a share of Linux's by size, rounded up to a block.
#[test]
fn a_machine_may_have_a_share_of_the_capacity_and_other_barns() {
    let tuned = |percent: u32, barn: u32| -> Machine<SlubSheaves> {
        let tunables =
            Tunables::default().with("sheaf_percent", percent).with("barn_sheaves", barn);
        Machine::builder().memory_bytes(64 << 20).tunables(tunables).build().unwrap()
    };
    for (percent, sizes) in
        [(0, ["0", "0", "0"]), (25, ["20", "4", "32"]), (200, ["124", "28", "60"])]
    {
        let machine = tuned(percent, 10);
        for ((name, size), capacity) in
            [("a", 8), ("e", 1024), ("maple_node", 256)].into_iter().zip(sizes)
        {
            let cache = machine.cache_create(&CacheArgs::new(name, size)).unwrap();
            assert_eq!(attribute(&machine, cache, "sheaf_capacity"), capacity, "{name} {percent}");
        }
    }
    for barn in [0, 2, 15] {
        let machine = tuned(100, barn);
        let cpu = machine.cpu(CpuId(0)).unwrap();
        let cache = machine.cache_create(&CacheArgs::new("counted", 256)).unwrap();
        let objects = alloc(&cpu, cache, 28 * 20);
        objects.into_iter().for_each(|object| cpu.free(cache, object, SITE));
        let put = machine.cache_stats(cache).unwrap().paths.get("barn_put");
        assert_eq!(put, u64::from(barn), "two of twenty are with the CPU, and the rest is flushed");
        assert!(machine.validate().is_ok(), "{:?}", machine.validate().errors);
    }
}

#[test]
fn a_sheaf_is_filled_at_once_and_emptied_when_the_barn_is_full() {
    let machine = machine(2, 1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    // A slab of 2 pages has 32 objects, a sheaf 28.
    let cache = machine.cache_create(&CacheArgs::new("counted", 256)).unwrap();
    let per_slab = u64::from(machine.cache_stats(cache).unwrap().objs_per_slab);
    let objects = alloc(&cpu, cache, 28 * 20);
    let path = |name| machine.cache_stats(cache).unwrap().paths.get(name);
    assert_eq!(path("alloc_fastpath"), 560);
    assert_eq!((path("sheaf_refill"), path("barn_get_fail"), path("barn_get")), (560, 20, 0));
    // There is a main sheaf for each CPU, and one to fill; from then on the empty one is the spare.
    assert_eq!(path("sheaf_alloc"), 3);
    assert_eq!(path("alloc_slab"), 560u64.div_ceil(per_slab));
    objects.into_iter().for_each(|object| cpu.free(cache, object, SITE));
    assert_eq!((path("free_fastpath"), path("free_slowpath")), (560, 0));
    // 20 sheaves are filled: main, spare and ten go into the barn, and each of the others is
    // flushed.
    assert_eq!((path("barn_put"), path("barn_put_fail")), (10, 8));
    assert_eq!(path("sheaf_flush"), 8 * 28);
    let again = alloc(&cpu, cache, 28 * 12);
    assert_eq!((path("barn_get"), path("sheaf_refill")), (10, 560));
    again.into_iter().for_each(|object| cpu.free(cache, object, SITE));
    assert!(machine.validate().is_ok(), "{:?}", machine.validate().errors);
}

#[test]
fn sheaves_are_kmalloc_blocks_and_no_live_bytes() {
    let machine = machine(4, 1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let cache = machine.cache_create(&CacheArgs::new("small", 64)).unwrap();
    let object = cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap();
    // These are the sheaves of the four CPUs, and the one that was filled; kmalloc-512 has sheaves itself,
    // from kmalloc-256.
    let sheaves = machine.kmalloc_cache(512, Gfp::KERNEL, SITE).unwrap();
    let stats = machine.cache_stats(sheaves).unwrap();
    assert_eq!(stats.objects_live, 5);
    assert_eq!(machine.gauges().live_bytes, 64);
    cpu.free(cache, object, SITE);
    drop(cpu);
    let cpus = machine.cpus().unwrap();
    machine.caches().repeat(2).into_iter().for_each(|cache| cpus.shrink(cache));
    assert_eq!(machine.cache_stats(sheaves).unwrap().objects_live, 0);
    assert_eq!(machine.gauges().slab_bytes, 0);
}

#[test]
fn objects_of_other_nodes_pass_sheaves_by() {
    let machine = machine(2, 2);
    let cpus = machine.cpus().unwrap();
    let cache = machine.cache_create(&CacheArgs::new("noded", 128)).unwrap();
    let cpu = cpus.cpu(CpuId(0));
    let near = cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap();
    let far = cpu.alloc_node(cache, Gfp::KERNEL, NodeId(1), SITE).unwrap();
    assert_eq!([near, far].map(|object| machine.node_of(object.pfn())), [NodeId(0), NodeId(1)]);
    [near, far].into_iter().for_each(|object| cpu.free(cache, object, SITE));
    let paths = machine.cache_stats(cache).unwrap().paths;
    let path = |name| paths.get(name);
    assert_eq!((path("alloc_fastpath"), path("alloc_slowpath")), (1, 1));
    assert_eq!((path("free_fastpath"), path("free_slowpath")), (1, 1));
    assert_eq!(path("alloc_node_mismatch"), 1);
}

/// A full sheaf goes to the barn after the grace period, and not before.
#[test]
fn kfree_rcu_collects_objects_in_a_sheaf_that_waits() {
    let machine = machine(2, 1);
    let (cpu, reader) = (machine.cpu(CpuId(0)).unwrap(), machine.cpu(CpuId(1)).unwrap());
    let cache = machine.cache_create(&CacheArgs::new("watched", 1024)).unwrap();
    let objects = alloc(&cpu, cache, 24);
    let path = |name| machine.cache_stats(cache).unwrap().paths.get(name);
    reader.rcu_read(|| {
        objects.iter().for_each(|&object| cpu.kfree_rcu(object, SITE));
        cpu.tick(1);
        assert_eq!((path("free_rcu_sheaf"), path("barn_put")), (24, 0));
        let others = alloc(&cpu, cache, 24);
        assert!(others.iter().all(|object| !objects.contains(object)), "a reader may still look");
        others.into_iter().for_each(|object| cpu.free(cache, object, SITE));
        assert!(machine.validate().is_ok(), "{:?}", machine.validate().errors);
    });
    cpu.rcu_barrier();
    assert_eq!(path("barn_put"), 2);
    assert_eq!((path("free_fastpath"), path("free_slowpath")), (24, 0));
    assert_eq!(machine.cache_stats(cache).unwrap().objects_live, 0);
    drop((cpu, reader));
    let cpus = machine.cpus().unwrap();
    cpus.cache_destroy(cache, SITE).unwrap();
    assert!(machine.validate().is_ok(), "{:?}", machine.validate().errors);
}
