//! Where dense behaves otherwise than SLUB_TINY.

use alloc::vec::Vec;

use crate::{CacheArgs, CacheId, Cpu, CpuId, Dense, Gfp, Machine, NodeId, ObjPtr, Site, Tunables};

const SITE: Site = Site(1);
/// A time longer than that between two visits to a CPU's magazines.
const LONG_NS: u64 = 1_000_000_000;

fn machine(memory_bytes: u64) -> (Machine<Dense>, CacheId) {
    let machine = Machine::builder().cpus(2).memory_bytes(memory_bytes).build().unwrap();
    let cache = machine.cache_create(&CacheArgs::new("used", 200)).unwrap();
    (machine, cache)
}

fn alloc(cpu: &Cpu<'_, Dense>, cache: CacheId, count: usize) -> Vec<ObjPtr> {
    (0..count).map(|_| cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap()).collect()
}

fn free(cpu: &Cpu<'_, Dense>, cache: CacheId, objects: Vec<ObjPtr>) {
    objects.into_iter().for_each(|object| cpu.free(cache, object, SITE));
}

#[test]
fn a_cache_used_once_keeps_nothing() {
    let (machine, cache) = machine(64 << 20);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    free(&cpu, cache, alloc(&cpu, cache, 1));
    cpu.tick(LONG_NS);
    cpu.tick(2 * LONG_NS);
    assert_eq!(machine.cache_stats(cache).unwrap().slabs, 0, "as under SLUB_TINY");
}

#[test]
fn a_warm_cache_takes_few_locks_and_an_idle_one_keeps_nothing() {
    let (machine, cache) = machine(64 << 20);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let slow = || machine.cache_stats(cache).unwrap().paths.get("alloc_slowpath");
    let kept = alloc(&cpu, cache, 100);
    free(&cpu, cache, alloc(&cpu, cache, 100));
    let before = slow();
    for _ in 0..100 {
        free(&cpu, cache, alloc(&cpu, cache, 4));
    }
    assert_eq!(slow(), before, "the magazine serves them all");
    free(&cpu, cache, kept);
    assert!(machine.cache_stats(cache).unwrap().slabs > 0, "objects wait in the magazine");
    (1..=3).for_each(|visit| cpu.tick(visit * LONG_NS));
    assert_eq!(machine.cache_stats(cache).unwrap().slabs, 0);
    assert!(machine.validate().is_ok());
}

#[test]
fn batches_come_to_need_no_lock_whatever_their_objects_size() {
    let (machine, _) = machine(1 << 30);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    for size in [16, 192, 1024, 4096] {
        let cache = machine.cache_create(&CacheArgs::new("batch", size)).unwrap();
        let batches = |count| {
            (0..count).for_each(|_| free(&cpu, cache, alloc(&cpu, cache, 64)));
            machine.cache_stats(cache).unwrap().paths.get("alloc_slowpath")
        };
        let warm = batches(400);
        assert_eq!(batches(100), warm, "{size}");
    }
    assert!(machine.validate().is_ok());
}

#[test]
fn objects_that_wait_serve_other_caches_when_memory_is_out() {
    let (machine, cache) = machine(2 << 20);
    let other = machine.cache_create(&CacheArgs::new("other", 4096)).unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    // Every slab of the first cache is empty but for the objects in the magazine.
    let mut objects = alloc(&cpu, cache, 1000);
    objects.sort_unstable_by_key(|object| object.get() % 4096);
    free(&cpu, cache, objects);
    let waiting = machine.cache_stats(cache).unwrap().slabs;
    assert!(waiting > 1, "{waiting}");
    let got = core::iter::from_fn(|| cpu.alloc(other, Gfp::KERNEL, SITE)).count();
    assert_eq!(machine.cache_stats(cache).unwrap().slabs, 0);
    assert!(got > 400, "{got}");
}

#[test]
fn a_full_magazine_takes_nothing_when_its_node_stands_in_for_another() {
    let machine: Machine<Dense> =
        Machine::builder().cpus(2).nodes(2).memory_bytes(64 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let away = NodeId(1);
    // Node 1 has nothing left.
    for bytes in [1 << 20, 16384] {
        let gfp = Gfp::KERNEL | Gfp::THISNODE;
        while cpu.kmalloc_node(bytes, gfp, away, SITE).is_some() {}
    }
    let cache = machine.cache_create(&CacheArgs::new("hot", 16)).unwrap();
    (0..200).for_each(|_| free(&cpu, cache, alloc(&cpu, cache, 2000)));
    let magazine = &machine.backend.magazines[machine.core.cpu_cache_index(0, cache)];
    assert_eq!(magazine.count.get(), magazine.capacity.get());
    let from_away = || cpu.alloc_node(cache, Gfp::KERNEL, away, SITE);
    let mut objects: Vec<ObjPtr> = (0..3000).filter_map(|_| from_away()).collect();
    assert_eq!(objects.len(), 3000, "the CPU's own node has some");
    assert!(magazine.count.get() <= magazine.capacity.get());
    assert!(machine.validate().is_ok());
    objects.extend(alloc(&cpu, cache, 500));
    objects.sort_unstable();
    objects.dedup();
    assert_eq!(objects.len(), 3500, "each once");
}

#[test]
fn a_magazine_of_a_destroyed_cache_starts_cold() {
    let (machine, cache) = machine(64 << 20);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    free(&cpu, cache, alloc(&cpu, cache, 500));
    cpu.cache_destroy(cache, SITE).unwrap();
    let next = machine.cache_create(&CacheArgs::new("next", 4096)).unwrap();
    assert_eq!(next.index(), cache.index(), "the same place");
    let magazine = &machine.backend.magazines[machine.core.cpu_cache_index(0, next)];
    assert_eq!(magazine.capacity.get(), 0);
    free(&cpu, next, alloc(&cpu, next, 6));
    assert_eq!(magazine.capacity.get(), 1, "of a page each");
    free(&cpu, next, alloc(&cpu, next, 500));
    assert!(magazine.capacity.get() > 1, "that it is hot counts more");
    assert!(machine.validate().is_ok());
}

#[test]
fn a_cache_needed_again_soon_after_each_pause_comes_to_keep_its_magazine() {
    let (machine, cache) = machine(64 << 20);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let slow = || machine.cache_stats(cache).unwrap().paths.get("alloc_slowpath");
    let kept = alloc(&cpu, cache, 100);
    let mut now_ns = LONG_NS;
    let mut bursts = |count: u32, pause_ns: u64| {
        let before = slow();
        for _ in 0..count {
            (0..4).for_each(|_| free(&cpu, cache, alloc(&cpu, cache, 8)));
            (0..4).for_each(|_| {
                now_ns += pause_ns / 4;
                cpu.tick(now_ns);
            });
        }
        slow() - before
    };
    let first = bursts(10, LONG_NS / 50);
    assert!(first >= 20, "{first}: emptied in each pause");
    bursts(40, LONG_NS / 50);
    assert_eq!(bursts(10, LONG_NS / 50), 0, "it waits for the next burst");
    free(&cpu, cache, kept);
    // A magazine that is not needed for long is emptied all the same.
    (0..100).for_each(|visit| cpu.tick(100 * LONG_NS + visit * LONG_NS));
    assert_eq!(machine.cache_stats(cache).unwrap().slabs, 0);
    assert!(machine.validate().is_ok());
}

#[test]
fn slabs_of_objects_that_waste_a_quarter_grow_with_their_number() {
    let (machine, _) = machine(64 << 20);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let large = machine.cache_create(&CacheArgs::new("task_struct", 5888)).unwrap();
    let held = || machine.cache_stats(large).unwrap().slabs;
    let mut objects = alloc(&cpu, large, 8);
    assert_eq!(held(), 8, "two pages each");
    objects.extend(alloc(&cpu, large, 10));
    assert_eq!(held(), 10, "five in eight pages");
    free(&cpu, large, objects);
    let asked = CacheArgs::new("asked", 5888).tunables(Tunables::default().with("order", 3));
    let asked = machine.cache_create(&asked).unwrap();
    let five = alloc(&cpu, asked, 5);
    assert_eq!(machine.cache_stats(asked).unwrap().slabs, 1, "the order that was asked for");
    free(&cpu, asked, five);
    assert!(machine.validate().is_ok());
}
