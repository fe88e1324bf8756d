//! What every backend has to do: the same tests, once for each line of `for_each_backend!`.

use alloc::vec::Vec;

use crate::backend::for_each_backend;
use crate::error::Error;
use crate::geometry::Arch;
use crate::{
    Backend, CacheArgs, CpuId, Gfp, Machine, Memory, MemorySource, NodeId, ObjPtr, Order, SlabFlags,
};
use crate::{CpuSet, Site};

const SITE: Site = Site(7);
const MIB: u64 = 1 << 20;

/// A small deterministic generator (xorshift64*), so that failures repeat.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

fn machine<B: Backend>(cpus: u32, nodes: u32) -> Machine<B> {
    Machine::builder().cpus(cpus).nodes(nodes).memory_bytes(64 * MIB).build().unwrap()
}

#[track_caller]
pub(crate) fn assert_balanced<B: Backend>(machine: &Machine<B>) {
    let balance = machine.validate();
    assert!(balance.is_ok(), "{:#?}", balance.errors);
}

fn objects_do_not_overlap<B: Backend>() {
    let machine = machine::<B>(1, 1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    for size in [1u64, 8, 24, 40, 64, 96, 200, 1024, 5000, 8192, 9000, 70_000] {
        let mut all: Vec<u64> =
            (0..50).map(|_| cpu.kmalloc(size, Gfp::KERNEL, SITE).unwrap().get()).collect();
        let free = all.clone();
        all.sort_unstable();
        assert!(all.windows(2).all(|w| w[0] + size <= w[1]), "{size} bytes overlap");
        free.iter().for_each(|&obj| cpu.kfree(ObjPtr::new(obj).unwrap(), SITE));
    }
    assert_balanced(&machine);
    assert_eq!(machine.gauges().live_bytes, 0);
    assert_eq!(machine.findings_count(), 0);
}

fn alignment_is_kept<B: Backend>() {
    let machine = machine::<B>(1, 1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    for align in [8u32, 16, 64, 256, 4096] {
        let args = CacheArgs::new("aligned", align / 2 + 24).align(align);
        let cache = machine.cache_create(&args.flags(SlabFlags::NO_MERGE)).unwrap();
        for _ in 0..20 {
            let obj = cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap();
            assert!(obj.get().is_multiple_of(u64::from(align)), "{obj} is not {align}-aligned");
        }
    }
    for shift in 3..=13 {
        let obj = cpu.kmalloc(1 << shift, Gfp::KERNEL, SITE).unwrap();
        let natural = (1u64 << shift).min(4096);
        assert!(obj.get().is_multiple_of(natural), "kmalloc({}) gave {obj}", 1 << shift);
    }
    assert_balanced(&machine);
}

fn random_work<B: Backend>() {
    let machine = machine::<B>(4, 2);
    let cpus = machine.cpus().unwrap();
    churn(&machine, &cpus, 60_000);
}

fn random_work_on_mapped_memory<B: Backend>() {
    let builder = Machine::<B>::builder().cpus(4).memory_bytes(64 * MIB);
    let machine = builder.memory(MemorySource::Mapped).build().unwrap();
    let cpus = machine.cpus().unwrap();
    churn(&machine, &cpus, 30_000);
}

/// Bytes that a previous machine wrote into the memory change nothing.
fn memory_used_before<B: Backend>() {
    let mut memory = Memory::reserve(64 * MIB).unwrap();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let machine = Machine::<B>::builder().cpus(4).nodes(2).build_in(memory).unwrap();
        let cpus = machine.cpus().unwrap();
        churn(&machine, &cpus, 30_000);
        let end = cpus.cpu(CpuId(0)).kmalloc(64, Gfp::KERNEL, SITE).unwrap();
        drop(cpus);
        seen.push((end, machine.lock_counts(), machine.path_counts(), machine.gauges()));
        memory = machine.into_memory().unwrap();
    }
    assert_eq!(memory.bytes(), 64 * MIB);
    assert_eq!(seen[0], seen[1]);
}

/// On larger pages and with shorter pointers, all blocks are whole pages, and all of them come
/// back.
fn random_work_on_larger_pages<B: Backend>() {
    for (page_order, word_bytes) in [(2, 8), (4, 8), (0, 4)] {
        let arch = Arch { page_order: Order(page_order), word_bytes };
        if !B::KIND.has_pages_of(arch.page_bytes()) {
            let refused = Machine::<B>::builder().arch(arch).build().unwrap_err();
            assert!(matches!(refused, Error::Machine { what: "page_bytes", .. }), "{refused}");
            continue;
        }
        let builder = Machine::<B>::builder().cpus(4).nodes(2).memory_bytes(256 * MIB).arch(arch);
        let machine = builder.build().unwrap();
        let cpus = machine.cpus().unwrap();
        churn(&machine, &cpus, 20_000);
        let cpu = cpus.cpu(CpuId(0));
        for size in [20_000, 100_000, 300_000] {
            let block = cpu.kmalloc(size, Gfp::KERNEL, SITE).unwrap();
            let natural = arch.page_bytes().min(1 << size.ilog2());
            assert!(block.get().is_multiple_of(natural), "kmalloc({size}) gave {block}");
            cpu.kfree(block, SITE);
            let area = cpu.vmalloc(size, Gfp::KERNEL, SITE).unwrap();
            assert_eq!(cpu.vfree(area, SITE), size.next_multiple_of(arch.page_bytes()));
        }
        assert!(machine.caches().into_iter().all(|id| {
            let stats = machine.cache_stats(id).unwrap();
            stats.slabs == 0 || !B::KIND.has_kmalloc_caches() || stats.order >= arch.page_order
        }));
        assert_balanced(&machine);
    }
}

/// Runs random allocations and frees on random CPUs, and compares with a plain list of live
/// objects.
fn churn<B: Backend>(machine: &Machine<B>, cpus: &CpuSet<'_, B>, operations: u64) {
    let mut random = Random(0x5eed);
    let caches: Vec<_> = [24u32, 72, 192, 700, 3000]
        .iter()
        .map(|&size| machine.cache_create(&CacheArgs::new("churn", size)).unwrap())
        .collect();
    let mut live: Vec<(ObjPtr, Option<usize>)> = Vec::new();
    for operation in 0..operations {
        let cpu = cpus.cpu(CpuId(random.below(4) as u32));
        // The population breathes: it grows for a while, then shrinks.
        let grow = if operation / 10_000 % 2 == 0 { 60 } else { 40 };
        if random.below(100) < grow || live.is_empty() {
            let got = if random.below(2) == 0 {
                let which = random.below(caches.len() as u64) as usize;
                cpu.alloc(caches[which], Gfp::KERNEL, SITE).map(|obj| (obj, Some(which)))
            } else {
                let shift = 3 + random.below(11);
                let size = 1 + random.below(1 << shift);
                cpu.kmalloc(size, Gfp::KERNEL, SITE).map(|obj| (obj, None))
            };
            live.extend(got);
        } else {
            let (obj, cache) = live.swap_remove(random.below(live.len() as u64) as usize);
            match cache {
                Some(which) => cpu.free(caches[which], obj, SITE),
                None => cpu.kfree(obj, SITE),
            }
        }
        if operation % 5_000 == 0 {
            assert_balanced(machine);
        }
    }
    for (obj, cache) in live {
        match cache {
            Some(which) => cpus.cpu(CpuId(0)).free(caches[which], obj, SITE),
            None => cpus.cpu(CpuId(0)).kfree(obj, SITE),
        }
    }
    assert_balanced(machine);
    // The loop runs twice: blocks that a backend has for itself come back to caches that were
    // shrunk already.
    machine.caches().repeat(2).into_iter().for_each(|cache| cpus.shrink(cache));
    assert_balanced(machine);
    assert_eq!(machine.gauges().slab_bytes, 0, "shrinking leaves no slab");
    assert_eq!(machine.gauges().live_bytes, 0);
    assert_eq!(machine.findings_count(), 0);
}

fn memory_runs_out_gently<B: Backend>() {
    let machine = Machine::<B>::builder().memory_bytes(2 * MIB).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let mut live = Vec::new();
    while let Some(obj) = cpu.kmalloc(500, Gfp::KERNEL, SITE) {
        live.push(obj);
    }
    assert!(live.len() as u64 * 512 > MIB, "more than half of the memory was usable");
    assert_balanced(&machine);
    live.drain(..).for_each(|obj| cpu.kfree(obj, SITE));
    assert!(cpu.kmalloc(500, Gfp::KERNEL, SITE).is_some());
    assert_balanced(&machine);
}

fn injected_page_failure<B: Backend>() {
    let machine = machine::<B>(1, 1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let cache = machine.cache_create(&CacheArgs::new("failing", 3000)).unwrap();
    for fail_after in 0..5 {
        machine.fail_pages_after(Some(fail_after));
        while cpu.alloc(cache, Gfp::KERNEL, SITE).is_some() {}
        assert_balanced(&machine);
        machine.fail_pages_after(None);
        assert!(cpu.alloc(cache, Gfp::KERNEL, SITE).is_some());
    }
    assert_balanced(&machine);
}

fn limits_of_kmalloc<B: Backend>() {
    let machine = machine::<B>(1, 1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    assert_eq!(cpu.kmalloc(0, Gfp::KERNEL, SITE), Some(ObjPtr::ZERO_SIZE));
    cpu.kfree(ObjPtr::ZERO_SIZE, SITE);
    assert!(cpu.kmalloc(4 * MIB, Gfp::KERNEL, SITE).is_some());
    assert!(cpu.kmalloc(4 * MIB + 1, Gfp::KERNEL, SITE).is_none());
    assert!(cpu.kmalloc(1 << 63, Gfp::KERNEL, SITE).is_none());
    assert!(cpu.kmalloc(u64::MAX, Gfp::KERNEL, SITE).is_none());
    assert!(cpu.alloc_pages(Order(10), Gfp::KERNEL).is_some());
    assert!(cpu.alloc_pages(Order(11), Gfp::KERNEL).is_none());
    assert_eq!(machine.findings_count(), 0);
    assert_balanced(&machine);
}

fn same_addresses_in_each_run<B: Backend>() {
    let run = || {
        let machine = machine::<B>(2, 1);
        let cpus = machine.cpus().unwrap();
        let mut random = Random(99);
        let mut live = Vec::new();
        let mut trace = Vec::new();
        for _ in 0..5_000 {
            let cpu = cpus.cpu(CpuId(random.below(2) as u32));
            if random.below(3) > 0 || live.is_empty() {
                let obj = cpu.kmalloc(1 + random.below(600), Gfp::KERNEL, SITE).unwrap();
                live.push(obj);
                trace.push(obj);
            } else {
                cpu.kfree(live.swap_remove(random.below(live.len() as u64) as usize), SITE);
            }
        }
        trace
    };
    assert_eq!(run(), run());
}

fn zeroed_on_request<B: Backend>() {
    let machine = machine::<B>(1, 1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let objs: Vec<_> = (0..64).map(|_| cpu.kmalloc(96, Gfp::KERNEL, SITE).unwrap()).collect();
    for &obj in &objs {
        machine.core.arena.fill(obj.get(), 96, 0xff);
        cpu.kfree(obj, SITE);
    }
    for _ in 0..64 {
        let obj = cpu.kmalloc(96, Gfp::KERNEL | Gfp::ZERO, SITE).unwrap();
        assert!((0..96).all(|i| machine.core.arena.byte(obj.get() + i) == 0));
    }
}

/// A block's room beyond the requested size held what was there before.
fn zeroed_as_far_as_a_block_may_grow<B: Backend>() {
    let machine = machine::<B>(1, 1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let zeroed = Gfp::KERNEL | Gfp::ZERO;
    for (size, larger) in [(1, 15), (20, 30), (20, 200), (200, 5000), (5000, 100_000)] {
        for size in [size, larger] {
            let obj = cpu.kmalloc(size, Gfp::KERNEL, SITE).unwrap();
            machine.core.arena.fill(obj.get(), cpu.ksize(obj), 0xee);
            cpu.kfree(obj, SITE);
        }
        let obj = cpu.kmalloc(size, zeroed, SITE).unwrap();
        let obj = cpu.krealloc(Some(obj), larger, zeroed, SITE).unwrap();
        assert!((0..larger).all(|i| machine.core.arena.byte(obj.get() + i) == 0), "{size} bytes");
    }
    assert_balanced(&machine);
}

/// Such a request used to give an index out of a table, or an object of another cache.
fn a_node_that_is_not_there<B: Backend>() {
    let machine = machine::<B>(2, 2);
    let cpu = machine.cpu(CpuId(1)).unwrap();
    let caches = [512, 16].map(|size| machine.cache_create(&CacheArgs::new("node", size)).unwrap());
    let _kept: Vec<_> = (0..100).map(|_| cpu.alloc(caches[1], Gfp::KERNEL, SITE)).collect();
    for node in [2, 1000, u32::MAX].map(NodeId) {
        for size in [8, 512, 4096, 20_000] {
            let obj = cpu.kmalloc_node(size, Gfp::KERNEL, node, SITE).unwrap();
            assert!(cpu.ksize(obj) >= size && machine.node_of(obj.pfn()) == NodeId(1));
            let only = Gfp::KERNEL | Gfp::THISNODE;
            assert_eq!(cpu.kmalloc_node(size, only, node, SITE), None);
        }
        let obj = cpu.alloc_node(caches[0], Gfp::KERNEL, node, SITE).unwrap();
        let of = machine.object_at(obj).map(|(cache, ..)| cache);
        assert_eq!(of, B::KIND.has_kmalloc_caches().then_some(caches[0]));
        assert_eq!(cpu.alloc_node(caches[0], Gfp::KERNEL | Gfp::THISNODE, node, SITE), None);
    }
    assert_balanced(&machine);
}

fn a_cpu_is_held_once<B: Backend>() {
    let machine = machine::<B>(2, 1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    assert!(machine.cpu(CpuId(0)).is_err());
    assert!(machine.cpu(CpuId(2)).is_err());
    assert!(machine.cpus().is_err());
    drop(cpu);
    assert!(machine.cpus().is_ok());
}

/// A machine runs on memory of the caller, as where there is no operating system below.
fn memory_of_the_caller<B: Backend>() {
    let memory = alloc::vec![core::mem::MaybeUninit::uninit(); (8 << 20) + 4096].leak();
    let skip = memory.as_ptr().align_offset(4096);
    let machine = Machine::<B>::builder().build_on(&mut memory[skip..skip + (8 << 20)]).unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let all: Vec<_> = (0..1000).map(|_| cpu.kmalloc(700, Gfp::KERNEL, SITE).unwrap()).collect();
    all.into_iter().for_each(|obj| cpu.kfree(obj, SITE));
    assert_eq!(cpu.reclaim(), 0, "the memory is not ours to give away");
    assert_balanced(&machine);
}

macro_rules! conformance {
    ($($module:ident $variant:ident $name:literal $what:literal,)*) => {
        $(mod $variant {
            conformance!(@tests $variant objects_do_not_overlap alignment_is_kept random_work random_work_on_mapped_memory
                memory_used_before random_work_on_larger_pages
                memory_runs_out_gently injected_page_failure limits_of_kmalloc
                same_addresses_in_each_run zeroed_on_request zeroed_as_far_as_a_block_may_grow
                a_node_that_is_not_there a_cpu_is_held_once memory_of_the_caller);
        })*
    };
    (@tests $variant:ident $($test:ident)*) => {
        $(#[test] fn $test() { super::$test::<crate::$variant>(); })*
    };
}
#[allow(non_snake_case)]
mod each {
    use super::*;
    for_each_backend!(conformance);
}
