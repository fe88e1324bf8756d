//! The page allocator under threads.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::tests::conformance::{Random, assert_balanced};
use crate::{Cache, CpuId, Gfp, Machine, Order, Pfn, Pool, Site, Slob, Slub};

const SITE: Site = Site(1);
const THREADS: u32 = 4;
const OPERATIONS: u32 = 400_000;

/// A block above order 3 used to keep the mark of a free buddy until its taker claimed it, after the zone
/// lock was released: the buddy freed in between merged with it, and its pages were given out twice.
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

/// The same from safe code: values of 64 KiB, which SLOB takes from the page allocator.
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
