//! The page allocator under threads.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::geometry::Arch;
use crate::tests::conformance::{Random, assert_balanced};
use crate::{Cache, CpuId, Gfp, Machine, Order, Pfn, Pool, Site, Slob, Slub};

const SITE: Site = Site(1);
const THREADS: u32 = 4;
const OPERATIONS: u32 = 400_000;

/// A block above order 3 used to keep the mark of a free buddy until its taker claimed it, after the zone
/// lock was released. The buddy freed in between merged with it, and its pages were given out twice.
#[test]
fn large_blocks_are_not_given_out_twice() {
    let memory = 2u64 << 20;
    let machine = Machine::<Slub>::builder().cpus(THREADS).memory_bytes(memory).build().unwrap();
    let owners: Vec<_> = (0..memory / 4096).map(|_| AtomicU32::new(0)).collect();
    let twice = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let threads = (0..THREADS).map(|thread| {
            let (machine, owners, twice) = (&machine, &owners, &twice);
            scope.spawn(move || {
                let cpu = machine.cpu(CpuId(thread)).unwrap();
                let pages = |pfn: Pfn, order: Order| {
                    &owners[pfn.0 as usize..(pfn.0 + order.pages()) as usize]
                };
                let free = |(pfn, order)| {
                    pages(pfn, order).iter().for_each(|page| page.store(0, Relaxed));
                    cpu.free_pages(pfn, order, SITE);
                };
                let mut random = Random(7 + u64::from(thread));
                let mut held = Vec::new();
                for _ in 0..OPERATIONS {
                    if held.len() < 4 && random.below(2) == 0 {
                        let order = Order(4 + random.below(3) as u8);
                        let Some(pfn) = cpu.alloc_pages(order, Gfp::KERNEL) else { continue };
                        let taken = pages(pfn, order).iter();
                        let before = taken.filter(|page| page.swap(thread + 1, Relaxed) != 0);
                        twice.fetch_add(before.count() as u32, Relaxed);
                        held.push((pfn, order));
                    } else if let Some(block) = held.pop() {
                        free(block);
                    }
                }
                held.into_iter().for_each(free);
            })
        });
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(twice.load(Relaxed), 0, "pages given out twice");
    assert_eq!(machine.take_findings(), []);
    assert_balanced(&machine);
}

/// The same fault shows from safe code: SLOB takes values of 64 KiB from the page allocator.
#[test]
fn large_values_of_a_pool_do_not_overlap() {
    let builder = Machine::<Slob>::builder().cpus(THREADS).memory_bytes(8 << 20);
    let pool = Pool::new(builder).unwrap();
    let cache = Cache::<[AtomicU64; 8192], Slob>::new(&pool, "large").unwrap();
    std::thread::scope(|scope| {
        let threads = (1..=u64::from(THREADS)).map(|thread| {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..1_000 {
                    let stamp = thread << 32 | round;
                    let values = core::array::from_fn(|_| AtomicU64::new(stamp));
                    let Ok(object) = cache.alloc(values) else { continue };
                    assert!(object.iter().all(|value| value.load(Relaxed) == stamp));
                }
            })
        });
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(pool.cache_stats(cache.id()).unwrap().objects_live, 0);
}

/// Pages that a CPU had freed used to stay on its lists, where no other CPU and no larger block
/// found them.
#[test]
fn lists_of_all_cpus_serve_where_memory_is_short() {
    let machine = Machine::<Slub>::builder().cpus(2).memory_bytes(16 << 20).build().unwrap();
    let cpus = [0, 1].map(|cpu| machine.cpu(CpuId(cpu)).unwrap());
    let take = |cpu: usize, order, gfp| -> Vec<Pfn> {
        core::iter::from_fn(|| cpus[cpu].alloc_pages(Order(order), gfp)).collect()
    };
    let give = |cpu: usize, order, blocks: Vec<Pfn>| {
        blocks.into_iter().for_each(|pfn| cpus[cpu].free_pages(pfn, Order(order), SITE));
    };
    let large = take(1, 10, Gfp::KERNEL);
    let count = large.len();
    give(1, 10, large);
    let small = take(0, 0, Gfp::KERNEL);
    give(0, 0, small);
    // A caller that may not sleep takes what the zones have.
    let (atomic, all) = (take(1, 10, Gfp::NOWAIT), take(1, 10, Gfp::KERNEL));
    assert!(atomic.len() < count && atomic.len() + all.len() == count);
    give(1, 10, atomic);
    give(1, 10, all);
    assert_balanced(&machine);
}

/// An injected failure is a failure, whatever the lists hold; and a search after draining is not an allocation of its
/// own.
#[test]
fn injected_failures_are_exact_where_memory_is_short() {
    let machine = Machine::<Slub>::builder().cpus(2).memory_bytes(4 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let mut blocks: Vec<_> =
        core::iter::from_fn(|| cpu.alloc_pages(Order(0), Gfp::KERNEL)).collect();
    machine.fail_pages_after(Some(2));
    assert_eq!(cpu.alloc_pages(Order(0), Gfp::KERNEL), None, "memory is out");
    blocks.drain(..9).for_each(|pfn| cpu.free_pages(pfn, Order(0), SITE));
    assert!(cpu.alloc_pages(Order(0), Gfp::KERNEL).is_some());
    assert_eq!(cpu.alloc_pages(Order(0), Gfp::KERNEL), None, "after two");
    machine.fail_pages_after(None);
    assert!(cpu.alloc_pages(Order(0), Gfp::KERNEL).is_some());
}

/// They used to be blocks of 4 KiB.
#[test]
fn no_block_is_smaller_than_a_page() {
    for page_order in [0, 2, 4].map(Order) {
        let arch = Arch { page_order, word_bytes: 8 };
        let builder = Machine::<Slub>::builder().memory_bytes(64 << 20).arch(arch);
        let machine = builder.build().unwrap();
        let cpu = machine.cpu(CpuId(0)).unwrap();
        machine.release_memory();
        let before = machine.free_blocks();
        let pages = [(); 3].map(|()| cpu.alloc_pages(Order(0), Gfp::KERNEL).unwrap());
        let exact = [1, 4096, 20_480, 200_000]
            .map(|bytes| (cpu.alloc_pages_exact(bytes, Gfp::KERNEL).unwrap(), bytes));
        let split = cpu.alloc_pages(Order(5), Gfp::KERNEL).unwrap();
        cpu.split_pages(split, Order(5), SITE);
        let firsts = pages.iter().chain(exact.iter().map(|(pfn, _)| pfn));
        assert!(firsts.copied().all(|pfn| pfn.0.is_multiple_of(page_order.pages())));
        assert_balanced(&machine);
        machine.release_memory();
        let sizes = machine.free_blocks();
        assert!(sizes[..usize::from(page_order.0)].iter().all(|&blocks| blocks == 0), "{sizes:?}");
        pages.into_iter().for_each(|pfn| cpu.free_pages(pfn, Order(0), SITE));
        exact.into_iter().for_each(|(pfn, bytes)| cpu.free_pages_exact(pfn, bytes, SITE));
        let parts = (split.0..split.0 + 32).step_by(page_order.pages() as usize);
        parts.for_each(|pfn| cpu.free_pages(Pfn(pfn), Order(0), SITE));
        machine.release_memory();
        assert_eq!((machine.free_blocks(), machine.findings_count()), (before, 0));
        assert_balanced(&machine);
    }
}

/// Linux looks at no watermark then; the pages kept for lower zones are part of one.
#[test]
fn who_may_use_all_reserves_may_use_those_for_other_zones() {
    let machine = Machine::<Slub>::builder().memory_bytes(64 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let all = Gfp::KERNEL | Gfp::MEMALLOC;
    let pages = core::iter::from_fn(|| cpu.alloc_pages(Order(0), all)).count();
    assert_eq!(cpu.alloc_pages(Order(0), all | Gfp::DMA), None);
    assert_eq!(machine.free_blocks().iter().sum::<u64>(), 0, "{pages} were to be had");
}
